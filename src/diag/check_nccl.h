// Diag stage: the all-reduce of the vendor's library (NCCL) beside ours, where it is installed.
#pragma once

#include <vector>

#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

// Test nccl_all_reduce of each of `cards`: bus bandwidth as nccl-tests counts it, bytes_per_second, on arrays as all_reduce
// has them; wrong sums are found. Absent: no other card, or no such library. Only one thread may be at these cards.
std::vector<Measurement> check_nccl(const Cards& cards);

}  // namespace stoker::diag
