// Diag stage, kernels: module `tensor89`.
#include "diag/kernels/tensor89.h"

namespace stoker::diag {
STOKER_KERNEL stoker_compute_tensor89(ComputeArgs args) { compute_tensor89(this_thread(), args); }
}  // namespace stoker::diag
