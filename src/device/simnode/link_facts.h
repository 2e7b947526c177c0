// Simulated node: NVLinks, the fabric and what lies between two GPUs.
#pragma once

#include "device/sim/state.h"
#include "device/simnode/machine.h"

namespace stoker::simnode {

void fill_links(const Machine& machine, unsigned index, const catalog::Product& product,
                sim::Gpu& gpu);

}  // namespace stoker::simnode
