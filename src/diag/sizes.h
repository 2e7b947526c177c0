// Diag stage: how much a test moves and computes: enough for a real card to reach its rate; on a card of this host, whose
// times follow from rates, as little as shows the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "diag/card.h"

namespace stoker::diag {

struct Sizes {
  std::uint64_t stream_bytes = 0;  // read or written once through: far more than the L2 cache holds
  std::uint64_t transfer_bytes = 0;  // one copy between host and card, or between cards
  std::uint32_t repeats = 0;         // of which the median counts
  std::uint32_t latency_repeats = 0;
  std::uint32_t compute_rounds = 0;
  std::uint32_t compute_repeats = 0;
};

inline Sizes sizes_for(const CardFacts& facts) {
  if (facts.simulated) {
    const std::uint64_t eighth = facts.memory_bytes / 8;
    return {eighth, std::min<std::uint64_t>(eighth, 1 << 18), 3, 4, 2, 2};
  }
  const std::uint64_t quarter = facts.memory_bytes / 4 / (1 << 20) * (1 << 20);
  return {std::min<std::uint64_t>(quarter, 4ULL << 30), 256ULL << 20, 10, 200, 64, 20};
}

}  // namespace stoker::diag
