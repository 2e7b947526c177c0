// Diag stage, kernels: module `memory`.
#include "diag/kernels/memory.h"

namespace stoker::diag {
STOKER_KERNEL stoker_fill(FillArgs args) { fill(this_thread(), args); }
STOKER_KERNEL stoker_check(CheckArgs args) { check(this_thread(), args); }
STOKER_KERNEL stoker_read_only(MoveArgs args) { read_only(this_thread(), args); }
STOKER_KERNEL stoker_write_only(MoveArgs args) { write_only(this_thread(), args); }
STOKER_KERNEL stoker_copy_all(MoveArgs args) { copy_all(this_thread(), args); }
}  // namespace stoker::diag
