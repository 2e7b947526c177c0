// Simulated library: how much device memory is in use, besides what driver and idle card take.
#pragma once

#include "device/sim/load_model.h"

namespace stoker::sim {

/// Of the whole GPU, or of one instance of it.
[[nodiscard]] std::uint64_t used_by_processes(const Gpu& gpu, const GpuInstance* instance);
/// What the processes of the state hold; where it has none, what the load would.
[[nodiscard]] std::uint64_t used_memory(const Gpu& gpu, const Activity& activity);

}  // namespace stoker::sim
