// Diag stage, kernels: module `reduce`.
#include "diag/kernels/reduce.h"

namespace stoker::diag {
STOKER_KERNEL stoker_reduce_slice(ReduceArgs args) { reduce_slice(this_thread(), args); }
STOKER_KERNEL stoker_gather_slices(ReduceArgs args) { gather_slices(this_thread(), args); }
}  // namespace stoker::diag
