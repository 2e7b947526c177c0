// Diag stage: how fast a card moves data: its own memory, and to and from the host.
#pragma once

#include <functional>
#include <vector>

#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

// Median of `repeats` runs of `work` on the card, in seconds, after one that does not count.
Result<double> median_seconds(Card& card, std::uint32_t repeats,
                              const std::function<Result<void>()>& work);

// Tests memory_read, memory_write, memory_copy: bytes_per_second, the best of four medians; a copy counts what it reads and
// what it writes.
std::vector<Measurement> measure_memory(Card& card);

// Tests pcie_to_card, pcie_from_card, pcie_both (the sum of both ways at once): bytes_per_second, pinned memory;
// pcie_latency: seconds of a copy of 4 bytes to the card, launch and completion included. One card at a time: cards may
// share a way to the host.
std::vector<Measurement> measure_pcie(Card& card);

}  // namespace stoker::diag
