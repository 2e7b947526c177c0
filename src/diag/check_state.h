// Diag stage, level 1: software and state, without load: what has been read of each card, and what src/health found of it, as
// results. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/result.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::diag {

// state_* of every card of `snapshot` that is among `gpus` (all, if it is empty), and driver of the node. A finding of
// warning or worse that fires fails its test; one that is suspected makes it hindered; one of info is told. What the card has
// and could not be read makes it hindered, and so does a limit that was not told.
std::vector<TestResult> check_state(const store::Snapshot& snapshot,
                                    const std::vector<Finding>& findings,
                                    const std::vector<std::uint32_t>& gpus);

// Is one of these, that check_state() would judge by, only suspected, so that looking on would tell more?
bool is_suspected(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                  const std::vector<std::uint32_t>& gpus);

// Who uses a card, so that a test of it would disturb them, or they it: a line each; empty: nobody, as far as was read.
// `unknown`: the list of processes could not be read.
struct Users {
  std::vector<std::string> who;
  bool unknown = false;
};
Users users_of(const store::GpuSnapshot& gpu);

}  // namespace stoker::diag
