// Diag stage, kernels: an all-reduce in two launches of every card: each adds up one slice of all cards' arrays, reading
// the others' memory, and then each fetches the sums of the others. Numbers are whole, so that any order gives the same.
#pragma once

#include "diag/kernels/thread.h"

namespace stoker::diag {

inline constexpr uint32_t most_reduced_cards = 16;

struct ReduceArgs {
  const Words* arrays[most_reduced_cards];  // of each card, this one too
  Words* sums[most_reduced_cards];
  uint32_t cards;
  uint32_t card;   // this one: its slice is added up here
  uint64_t slice;  // Words of a slice
};

STOKER_BODY void reduce_slice(const Thread& thread, const ReduceArgs& args) {
  const uint64_t first = args.card * args.slice;
  for (uint64_t at = thread.index(); at < args.slice; at += thread.count()) {
    Words sum = args.arrays[0][first + at];
    for (uint32_t card = 1; card < args.cards; ++card) sum += args.arrays[card][first + at];
    args.sums[args.card][first + at] = sum;
  }
}

STOKER_BODY void gather_slices(const Thread& thread, const ReduceArgs& args) {
  for (uint32_t next = 1; next < args.cards; ++next) {
    const uint32_t card = (args.card + next) % args.cards;
    const uint64_t first = card * args.slice;
    for (uint64_t at = thread.index(); at < args.slice; at += thread.count()) {
      args.sums[args.card][first + at] = args.sums[card][first + at];
    }
  }
}

}  // namespace stoker::diag
