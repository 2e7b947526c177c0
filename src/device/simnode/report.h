// Simulated node: what is so, in words.
#pragma once

#include "device/sim/state.h"
#include "device/simnode/sim_node.h"

namespace stoker::simnode {

// Fills driver, faults and GPUs; products by `product_of(row)` are the caller's.
void describe(const sim::State& state, SimReport& report);

}  // namespace stoker::simnode
