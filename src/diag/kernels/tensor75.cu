// Diag stage, kernels: module `tensor75`.
#include "diag/kernels/tensor75.h"

namespace stoker::diag {
STOKER_KERNEL stoker_compute_tensor75(ComputeArgs args) { compute_tensor75(this_thread(), args); }
}  // namespace stoker::diag
