// Simulated library: the field ids whose value moves.
#pragma once

#include <optional>

#include "device/sim/library/gate.h"

namespace stoker::sim {

/// What a live field answers. `bits` lie as in NVML's union, for the type that the state's row says.
struct LiveValue {
  Return status = Return::success;
  std::uint64_t bits = 0;
};

/// Nothing for an id that the library has no source for: the row's own bits are the answer then.
[[nodiscard]] std::optional<LiveValue> live_value(const View& view, std::uint32_t field_id,
                                                  std::uint32_t scope_id);

}  // namespace stoker::sim
