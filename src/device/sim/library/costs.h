// Simulated library: what calls cost on a real card (costs.def), for CostProfile::captured.
#pragma once

#include <cstdint>

#include "device/sim/library/function.h"

namespace stoker::sim {

/// Nanoseconds, or 0 for a call of less than 20 us: a sleep can't be that short.
[[nodiscard]] std::uint64_t cost_of(const Function& function);
/// The same for one id of nvmlDeviceGetFieldValues.
[[nodiscard]] std::uint64_t cost_of_field(std::uint32_t field_id);

}  // namespace stoker::sim
