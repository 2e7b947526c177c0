// Simulated driver: where MIG instances fit, and how they are made: by a client of the library and by
// whoever prepares a simulated node alike.
#pragma once

#include <cstdint>
#include <optional>

#include "device/sim/state_gpu.h"

namespace stoker::sim {

[[nodiscard]] const MigProfile* profile_by_number(const MigFacts& mig, std::uint32_t number);
[[nodiscard]] const MigProfile* profile_by_id(const MigFacts& mig, std::uint32_t id);
[[nodiscard]] const ComputeProfile* compute_profile_by_id(const MigProfile& profile,
                                                          std::uint32_t id);

/// How many more of this profile could be made now, one after the other.
[[nodiscard]] unsigned remaining(const MigFacts& mig, const MigProfile& profile);
[[nodiscard]] unsigned remaining(const MigProfile& gpu_profile, const GpuInstance& instance,
                                 const ComputeProfile& profile);

/// The start at which a new instance takes the least from what other profiles could still have;
/// nothing where none fits.
[[nodiscard]] std::optional<std::uint32_t> choose_start(const MigFacts& mig,
                                                        const MigProfile& profile);
/// The lowest start at which `slices` are free.
[[nodiscard]] std::optional<std::uint32_t> choose_start(const MigProfile& gpu_profile,
                                                        const GpuInstance& instance,
                                                        std::uint32_t slices);

/// Is this a placement of the profile, free, and one instance more allowed?
[[nodiscard]] bool fits(const MigFacts& mig, const MigProfile& profile, std::uint32_t start);
[[nodiscard]] bool fits(const MigProfile& gpu_profile, const GpuInstance& instance,
                        const ComputeProfile& profile, std::uint32_t start);

/// Makes an instance at a place that fits(); nullptr where all rows are taken.
[[nodiscard]] GpuInstance* add_instance(MigFacts& mig, const MigProfile& profile,
                                        std::uint32_t start);
/// The same within an instance of `gpu`. Its UUID follows from the GPU's and the two numbers, so that
/// it comes back when an instance is made again at the same place, as on real cards.
[[nodiscard]] ComputeInstance* add_compute(const Gpu& gpu, GpuInstance& instance,
                                           const ComputeProfile& profile, std::uint32_t start);

}  // namespace stoker::sim
