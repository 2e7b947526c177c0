// Diag stage: how fast cards reach each other's memory, and what an all-reduce makes of that.
#pragma once

#include <vector>

#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

// Tests of every card, bytes_per_second each, absent where there is one card or two cards have no way to each other:
//   peer_copy    the slowest of the copies from each other card, one at a time; the peer is named
//   peer_all     from the next card, while all cards copy from their next one
//   all_reduce   bus bandwidth, 2 (n-1)/n * bytes / time, of a sum over all cards by our own kernel; wrong if a sum is
// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md says what bus bandwidth is.
std::vector<Measurement> check_peers(const Cards& cards);

}  // namespace stoker::diag
