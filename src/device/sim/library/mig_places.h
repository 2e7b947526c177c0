// Simulated library: MIG devices of a GPU in the order of NVML's MIG index, and what a place holds.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "device/sim/library/handles.h"

namespace stoker::sim {

/// Every compute instance is a MIG device; none where MIG is off. `row` is the GPU's.
[[nodiscard]] std::vector<Place> mig_devices(const Gpu& gpu, std::uint32_t row);
[[nodiscard]] std::uint32_t mig_index(const Gpu& gpu, const Place& place);

[[nodiscard]] inline const ComputeInstance& compute_at(const State& state, const Place& place) {
  return state.gpus[place.gpu].mig.instances[place.instance].compute[place.compute];
}
[[nodiscard]] inline const MigProfile& profile_of(const Gpu& gpu, const GpuInstance& instance) {
  return gpu.mig.profiles[instance.profile];
}
[[nodiscard]] inline const ComputeProfile& profile_of(const Gpu& gpu, const GpuInstance& instance,
                                                      const ComputeInstance& compute) {
  return profile_of(gpu, instance).compute[compute.profile];
}

/// "MIG 1g.10gb", cut where it does not fit, as profiles of GPU and compute instances spell their names.
template <std::size_t size>
void fill_mig_name(std::string_view profile, char (&out)[size]) {
  const std::string name = "MIG " + std::string(profile);
  std::memset(out, 0, size);
  std::memcpy(out, name.data(), std::min(name.size(), size - 1));
}

}  // namespace stoker::sim
