// Diag stage, kernels: module `tensor80`.
#include "diag/kernels/tensor80.h"

namespace stoker::diag {
STOKER_KERNEL stoker_compute_tensor80(ComputeArgs args) { compute_tensor80(this_thread(), args); }
}  // namespace stoker::diag
