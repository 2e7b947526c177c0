// Composition: a look at the cards' state for `stoker diag`: level 1, and what active tests are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "config/settings.h"
#include "diag/under_load.h"
#include "diag_node.h"

namespace stoker::app {

// Asked several times a second: is the look to end with what there is?
using AskedToStop = std::function<bool()>;

// Waits until every card has been read once, 25 s at most: with one that hangs, the probe is given up and another one tells
// of the others.
store::Snapshot first_snapshot(const DiagNode& node, const AskedToStop& stop);

// One look at what was read.
diag::StateLook look_once(store::Snapshot snapshot, const config::Settings& settings,
                          const std::vector<std::uint32_t>& gpus);
// Looks again, for up to 35 s, while something is only suspected and nothing has failed yet.
diag::StateLook look_until_sure(const DiagNode& node, const config::Settings& settings,
                                const std::vector<std::uint32_t>& gpus, const AskedToStop& stop);

}  // namespace stoker::app
