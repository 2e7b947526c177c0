// Simulated node: a machine and its products as the simulated driver's state.
#pragma once

#include "device/sim/state.h"
#include "device/simnode/machine.h"

namespace stoker::simnode {

// Fills a zeroed `state` with the driver and all GPUs of `machine`, at rest, as of `now_ns`.
void fill_state(const Machine& machine, std::uint64_t now_ns, sim::State& state);

// Transfers a second of one lane of PCIe generation `generation` in MT/s; 0 for one that is unknown.
std::uint32_t pcie_mtps(std::uint32_t generation);

}  // namespace stoker::simnode
