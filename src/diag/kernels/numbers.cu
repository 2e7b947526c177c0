// Diag stage, kernels: module `numbers`.
#include "diag/kernels/matrix.h"

namespace stoker::diag {
STOKER_KERNEL stoker_normal(NormalArgs args) { normal(this_thread(), args); }
STOKER_KERNEL stoker_digest(DigestArgs args) { digest(this_thread(), args); }
}  // namespace stoker::diag
