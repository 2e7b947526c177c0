// Diag stage, kernels: patterns written to memory and looked for again, and the three ways to move memory whose rates
// are measured. Sizes are in Words (16 bytes), addresses in 32-bit words of the card's range under test.
#pragma once

#include "diag/kernels/thread.h"

namespace stoker::diag {

enum class Pattern : uint32_t {
  constant,  // `seed` everywhere
  address,   // each word holds its own number: finds lines of the address that are stuck or joined
  noise,     // a hash of number and seed: neighbours differ in half of their bits
};

STOKER_BODY uint32_t expected_word(Pattern pattern, uint32_t seed, uint64_t number) {
  switch (pattern) {
    case Pattern::constant: return seed;
    case Pattern::address:
      return static_cast<uint32_t>(number) ^ static_cast<uint32_t>(number >> 32) ^ seed;
    case Pattern::noise: break;
  }
  return mixed(static_cast<uint32_t>(number) ^ mixed(static_cast<uint32_t>(number >> 32) + seed));
}

struct FillArgs {
  Words* base;
  uint64_t count;    // of Words
  uint64_t first;    // number of the first 32-bit word
  uint32_t pattern;  // Pattern
  uint32_t seed;
};

STOKER_BODY Words expected_words(const FillArgs& args, uint64_t at) {
  const uint64_t number = args.first + at * 4;
  const auto pattern = static_cast<Pattern>(args.pattern);
  return Words{
      expected_word(pattern, args.seed, number), expected_word(pattern, args.seed, number + 1),
      expected_word(pattern, args.seed, number + 2), expected_word(pattern, args.seed, number + 3)};
}

STOKER_BODY void fill(const Thread& thread, const FillArgs& args) {
  for (uint64_t at = thread.index(); at < args.count; at += thread.count()) {
    args.base[at] = expected_words(args, at);
  }
}

struct WrongWord {
  uint64_t number;  // of the 32-bit word in the range under test
  uint32_t expected;
  uint32_t found;
};

// What a check found; those beyond the room that there is are counted, not kept.
struct WrongWords {
  static constexpr uint32_t room = 8192;
  uint32_t count;
  uint32_t unused[3];
  WrongWord words[room];
};

struct CheckArgs {
  FillArgs filled;
  WrongWords* wrong;
};

STOKER_BODY void note_wrong(const CheckArgs& args, uint64_t at, const Words& found) {
  const Words expected = expected_words(args.filled, at);
  for (uint32_t i = 0; i < 4; ++i) {
    if (found[i] == expected[i]) continue;
    const uint32_t place = __atomic_fetch_add(&args.wrong->count, 1U, __ATOMIC_RELAXED);
    if (place >= WrongWords::room) continue;
    args.wrong->words[place] = {args.filled.first + at * 4 + i, expected[i], found[i]};
  }
}

STOKER_BODY void check(const Thread& thread, const CheckArgs& args) {
  const FillArgs& filled = args.filled;
  for (uint64_t at = thread.index(); at < filled.count; at += thread.count()) {
    const Words found = filled.base[at];
    const Words differ = found ^ expected_words(filled, at);
    if ((differ[0] | differ[1] | differ[2] | differ[3]) != 0) note_wrong(args, at, found);
  }
}

struct MoveArgs {
  const Words* from;
  Words* to;
  uint64_t count;  // of Words; a multiple of 4 times the threads of the launch is moved at its best
};

// `to` is written only if every word is what no memory of ours holds, so that the loads can't be left out.
STOKER_BODY void read_only(const Thread& thread, const MoveArgs& args) {
  const uint64_t step = thread.count();
  Words sum = {0, 0, 0, 0};
  uint64_t at = thread.index();
  for (; at + 3 * step < args.count; at += 4 * step) {
    const Words a = args.from[at];
    const Words b = args.from[at + step];
    const Words c = args.from[at + 2 * step];
    const Words d = args.from[at + 3 * step];
    sum ^= (a ^ b) + (c ^ d);
  }
  for (; at < args.count; at += step) sum ^= args.from[at];
  if (sum[0] == 0x5eed5eedU && sum[1] == 1 && sum[2] == 2 && sum[3] == 3) args.to[0] = sum;
}

STOKER_BODY void write_only(const Thread& thread, const MoveArgs& args) {
  const Words value = {0x5aa55aa5U, 0xa55aa55aU, 0x5aa55aa5U, 0xa55aa55aU};
  for (uint64_t at = thread.index(); at < args.count; at += thread.count()) args.to[at] = value;
}

// A block copies neighbouring pieces one after the other: banks of memory turn from reading to writing less often.
STOKER_BODY void copy_all(const Thread& thread, const MoveArgs& args) {
  constexpr uint64_t pieces = 4;
  const uint64_t block = uint64_t{thread.lanes} * pieces;
  uint64_t first = thread.block * block;
  for (; first + block <= args.count; first += thread.blocks * block) {
    const uint64_t at = first + thread.lane;
    const Words a = args.from[at];
    const Words b = args.from[at + thread.lanes];
    const Words c = args.from[at + 2 * uint64_t{thread.lanes}];
    const Words d = args.from[at + 3 * uint64_t{thread.lanes}];
    args.to[at] = a;
    args.to[at + thread.lanes] = b;
    args.to[at + 2 * uint64_t{thread.lanes}] = c;
    args.to[at + 3 * uint64_t{thread.lanes}] = d;
  }
  for (uint64_t at = first + thread.lane; at < args.count && at < first + block;
       at += thread.lanes) {
    args.to[at] = args.from[at];
  }
}

}  // namespace stoker::diag
