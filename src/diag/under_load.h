// Diag stage: what came over a card while it worked: its state before and after, counters that rose, clocks that were held
// down, what the kernel said of it. A card that computes rightly and throws an uncorrected error meanwhile is no sound one. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/judge.h"
#include "diag/result.h"
#include "store/snapshot.h"

namespace stoker::diag {

// One look at the node: what was read, and what level 1 made of it.
struct StateLook {
  store::Snapshot snapshot;
  std::vector<TestResult> states;  // check_state()
};

// Something that the kernel or NVML said of a card since its work began.
struct LoadEvent {
  std::uint32_t gpu = 0;
  std::string text;                  // for people: "Xid 79: GPU has fallen off the bus"
  std::vector<std::string> details;  // the line itself
  bool is_fault = true;              // false: told alone
  bool of_program = false;  // where others use the card too, nobody knows whose program it was
};

struct UnderLoad {
  StateLook before;
  StateLook after;         // by a source of its own, so that nothing in it is from before
  store::Snapshot during;  // of the source that watched, at the end of the work
  LoadSamples samples;
  MonotonicTime began;
  MonotonicTime ended;
  std::vector<std::uint32_t> gpus;  // that worked, by index
  std::vector<LoadEvent> events;
  std::string unheard;  // why nobody could hear what the kernel and NVML say; empty: somebody did
  bool shared = false;  // somebody else may use the cards
};

// Two results for each card of `gpus`: load_state fails where a state has become wrong, a counter of errors rose, clocks were
// held down, or the card is lost; load_xids where an Xid or an error of the driver or the bus was heard of it. What can't be
// known makes them hindered.
std::vector<TestResult> check_under_load(const UnderLoad& load);

// The same two, hindered by `reason`, of a card that worked and was not looked at again.
std::vector<TestResult> not_looked_at(const store::GpuSnapshot& gpu, const std::string& reason);

}  // namespace stoker::diag
