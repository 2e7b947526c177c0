#include "device/sim/library/mig_plan.h"

#include <algorithm>
#include <cstdio>

namespace stoker::sim {
namespace {

struct Range {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
  [[nodiscard]] bool meets(const Range& other) const {
    return start < other.start + other.size && other.start < start + size;
  }
};

bool is_free(const MigFacts& mig, const Range& range) {
  return std::ranges::none_of(mig.instances, [&](const GpuInstance& instance) {
    return instance.used != 0 && range.meets({instance.start, instance.size});
  });
}

bool is_free(const GpuInstance& instance, const Range& range) {
  return std::ranges::none_of(instance.compute, [&](const ComputeInstance& compute) {
    return compute.used != 0 && range.meets({compute.start, compute.size});
  });
}

unsigned made(const MigFacts& mig, const MigProfile& profile) {
  return static_cast<unsigned>(std::ranges::count_if(mig.instances, [&](const GpuInstance& one) {
    return one.used != 0 && &mig.profiles[one.profile] == &profile;
  }));
}

unsigned made(const MigProfile& gpu_profile, const GpuInstance& instance,
              const ComputeProfile& profile) {
  return static_cast<unsigned>(
      std::ranges::count_if(instance.compute, [&](const ComputeInstance& one) {
        return one.used != 0 && &gpu_profile.compute[one.profile] == &profile;
      }));
}

// Placements of all profiles that stay free once `taken` is gone.
unsigned left_after(const MigFacts& mig, const Range& taken) {
  unsigned left = 0;
  for (const MigProfile& profile : mig.profiles) {
    for (std::uint32_t i = 0; profile.slices != 0 && i < profile.placement_count; ++i) {
      const Range range{profile.placement_start[i], profile.placement_size};
      if (is_free(mig, range) && !range.meets(taken)) ++left;
    }
  }
  return left;
}

// As on cards: one number for each place of each size, so that a number comes back with its place. 0 is
// the whole card; of 8 slices 1 and 2 are the halves, the upper one first (NVIDIA's MIG guide,
// "3g.20gb" at 4:4 and 0:4), 3 on the quarters, 7 on the eighths.
std::uint32_t instance_id(const MigFacts& mig, std::uint32_t start, std::uint32_t size) {
  if (mig.memory_slices == 8 && size == 4) return start == 0 ? 2 : 1;
  return mig.memory_slices / size - 1 + start / size;
}

std::uint32_t free_id(const GpuInstance& instance) {
  std::uint32_t id = 0;
  while (std::ranges::any_of(instance.compute, [&](const ComputeInstance& one) {
    return one.used != 0 && one.id == id;
  })) {
    ++id;
  }
  return id;
}

// "GPU-51000000-82fc-4000-8000-000000000004" gives "MIG-51000000-82fc-4000-8000-000400020000".
void write_uuid(const Gpu& gpu, const GpuInstance& instance, ComputeInstance& compute) {
  constexpr int kind = 4;    // "GPU-"
  constexpr int node = 24;   // what follows, up to the last group
  constexpr int shown = 32;  // the last four digits of the last group
  std::snprintf(compute.uuid, sizeof compute.uuid, "MIG-%.*s%.4s%04x%04x", node,
                gpu.identity.uuid + kind, gpu.identity.uuid + kind + shown, instance.id & 0xFFFFU,
                compute.id & 0xFFFFU);
}

}  // namespace

const MigProfile* profile_by_number(const MigFacts& mig, std::uint32_t number) {
  for (const MigProfile& profile : mig.profiles) {
    if (profile.slices != 0 && profile.number == number) return &profile;
  }
  return nullptr;
}

const MigProfile* profile_by_id(const MigFacts& mig, std::uint32_t id) {
  for (const MigProfile& profile : mig.profiles) {
    if (profile.slices != 0 && profile.id == id) return &profile;
  }
  return nullptr;
}

const ComputeProfile* compute_profile_by_id(const MigProfile& profile, std::uint32_t id) {
  for (const ComputeProfile& compute : profile.compute) {
    if (compute.slices != 0 && compute.id == id) return &compute;
  }
  return nullptr;
}

bool fits(const MigFacts& mig, const MigProfile& profile, std::uint32_t start) {
  const auto* end = profile.placement_start + profile.placement_count;
  return std::find(profile.placement_start, end, start) != end &&
         is_free(mig, {start, profile.placement_size}) && made(mig, profile) < profile.instances;
}

bool fits(const MigProfile& gpu_profile, const GpuInstance& instance, const ComputeProfile& profile,
          std::uint32_t start) {
  return start + profile.slices <= gpu_profile.slices &&
         is_free(instance, {start, profile.slices}) &&
         made(gpu_profile, instance, profile) < profile.instances;
}

std::optional<std::uint32_t> choose_start(const MigFacts& mig, const MigProfile& profile) {
  std::optional<std::uint32_t> best;
  unsigned best_left = 0;
  for (std::uint32_t i = 0; i < profile.placement_count; ++i) {
    const std::uint32_t start = profile.placement_start[i];
    if (!fits(mig, profile, start)) continue;
    const unsigned left = left_after(mig, {start, profile.placement_size});
    if (!best || left > best_left) {
      best = start;
      best_left = left;
    }
  }
  return best;
}

std::optional<std::uint32_t> choose_start(const MigProfile& gpu_profile,
                                          const GpuInstance& instance, std::uint32_t slices) {
  for (std::uint32_t start = 0; start + slices <= gpu_profile.slices; ++start) {
    if (is_free(instance, {start, slices})) return start;
  }
  return std::nullopt;
}

GpuInstance* add_instance(MigFacts& mig, const MigProfile& profile, std::uint32_t start) {
  auto* const row = std::ranges::find(mig.instances, 0U, &GpuInstance::used);
  if (row == std::end(mig.instances)) return nullptr;
  *row = GpuInstance{};
  row->used = 1;
  row->id = instance_id(mig, start, profile.placement_size);
  row->profile = static_cast<std::uint32_t>(&profile - mig.profiles);
  row->start = start;
  row->size = profile.placement_size;
  row->load.kind = LoadKind::inherit;
  return row;
}

ComputeInstance* add_compute(const Gpu& gpu, GpuInstance& instance, const ComputeProfile& profile,
                             std::uint32_t start) {
  auto* const row = std::ranges::find(instance.compute, 0U, &ComputeInstance::used);
  if (row == std::end(instance.compute)) return nullptr;
  *row = ComputeInstance{};
  row->id = free_id(instance);
  row->used = 1;
  row->profile = static_cast<std::uint32_t>(&profile - gpu.mig.profiles[instance.profile].compute);
  row->start = start;
  row->size = profile.slices;
  write_uuid(gpu, instance, *row);
  return row;
}

// Placements of one profile don't overlap each other, so free ones count as they are.
unsigned remaining(const MigFacts& mig, const MigProfile& profile) {
  unsigned free = 0;
  for (std::uint32_t i = 0; i < profile.placement_count; ++i) {
    if (is_free(mig, {profile.placement_start[i], profile.placement_size})) ++free;
  }
  return std::min(free, profile.instances - std::min(profile.instances, made(mig, profile)));
}

unsigned remaining(const MigProfile& gpu_profile, const GpuInstance& instance,
                   const ComputeProfile& profile) {
  unsigned free = 0;
  for (std::uint32_t start = 0; start + profile.slices <= gpu_profile.slices;) {
    if (is_free(instance, {start, profile.slices})) {
      ++free;
      start += profile.slices;
    } else {
      ++start;
    }
  }
  const unsigned allowed =
      profile.instances - std::min(profile.instances, made(gpu_profile, instance, profile));
  return std::min(free, allowed);
}

}  // namespace stoker::sim
