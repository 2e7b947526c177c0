// Diag stage: patterns and addresses, written to the card's memory and looked for again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

// The card's memory under test, in pieces, since no driver gives all of it in one.
struct MemoryRange {
  std::vector<CardMemory> pieces;
  std::uint64_t bytes = 0;

  // The address in the range of a 32-bit word, counted over all pieces; 0: beyond the end.
  [[nodiscard]] Address address_of(std::uint64_t word) const;
};

struct MemoryOptions {
  double share = 0.95;     // of what is free
  std::uint64_t most = 0;  // bytes; 0: all of that share
  std::uint64_t piece = 1ULL << 30;
  // Between write and check of the first pattern: to show that a changed bit is found.
  std::function<Result<void>(Card&, const MemoryRange&)> meddle;
  std::vector<std::uint64_t>* wrong =
      nullptr;  // gets the number of each wrong word of memory_pattern
};

// As much of `options.share` of the free memory as can be had. unavailable: less than nine tenths of that, with how much.
Result<MemoryRange> take_memory(Card& card, const MemoryOptions& options);

// Tests memory_pattern and memory_address: the number of wrong words, each of the first named.
std::vector<Measurement> check_memory(Card& card, const MemoryOptions& options);

// A MemoryOptions::meddle: flips `count` single bits, each of a word of its own spread over the range; their words go to
// `flipped`, sorted.
std::function<Result<void>(Card&, const MemoryRange&)> flip_bits(
    std::uint32_t count, std::vector<std::uint64_t>& flipped);

}  // namespace stoker::diag
