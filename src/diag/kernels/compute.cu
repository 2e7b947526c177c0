// Diag stage, kernels: module `compute`.
#include "diag/kernels/compute.h"

namespace stoker::diag {
STOKER_KERNEL stoker_compute(ComputeArgs args) { compute(this_thread(), args); }
}  // namespace stoker::diag
