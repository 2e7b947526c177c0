// Simulated library: the handles that callers hold. They are addresses in static tables, so a handle
// is the same in every session, and a stale or foreign one is noticed instead of followed.
#pragma once

#include <optional>

#include "device/sim/library/function.h"

namespace stoker::sim {

inline constexpr std::uint32_t no_row = 0xFFFFFFFF;

/// Rows of the state: State::gpus, MigFacts::instances, GpuInstance::compute.
struct Place {
  std::uint32_t gpu = no_row;
  std::uint32_t instance = no_row;  // no_row: the whole GPU
  std::uint32_t compute = no_row;
  [[nodiscard]] bool is_mig() const { return instance != no_row; }
};

[[nodiscard]] Device device_handle(std::uint32_t gpu);
[[nodiscard]] Device mig_handle(const Place& place);
[[nodiscard]] GpuInstanceHandle gpu_instance_handle(std::uint32_t gpu, std::uint32_t instance);
[[nodiscard]] ComputeInstanceHandle compute_instance_handle(const Place& place);

/// Nothing for a pointer that is no handle of that kind.
[[nodiscard]] std::optional<Place> place_of(Device handle);
[[nodiscard]] std::optional<Place> place_of(GpuInstanceHandle handle);
[[nodiscard]] std::optional<Place> place_of(ComputeInstanceHandle handle);

}  // namespace stoker::sim
