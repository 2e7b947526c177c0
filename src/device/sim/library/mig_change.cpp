// Simulated library: MIG calls that change the card, and what a card refuses.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "device/sim/library/gate.h"
#include "device/sim/library/mig_places.h"
#include "device/sim/library/mig_plan.h"

namespace stoker::sim {
namespace {

bool has_instances(const MigFacts& mig) {
  return std::ranges::any_of(mig.instances, [](const GpuInstance& one) { return one.used != 0; });
}

bool has_processes(const Gpu& gpu) {
  return std::ranges::any_of(gpu.processes,
                             [](const Process& one) { return one.kind != ProcessKind::none; });
}

// The mode that was asked for stays pending where it can't be had now; nvml.h: the call succeeds
// then, and the activation status says why it is not in force.
Return activate(Gpu& gpu, unsigned mode) {
  if (gpu.mig.mode == mode) return Return::success;
  if (has_processes(gpu) || has_instances(gpu.mig)) return Return::in_use;
  if (gpu.mig.needs_reset != 0) return Return::reset_required;
  gpu.mig.mode = mode;
  return Return::success;
}

// One number for each place of each size, so that a number comes back when an
// instance of the same size is made at the same place again.
std::uint32_t instance_id(std::uint32_t start, std::uint32_t size) {
  switch (size) {
    case 8: return 0;
    case 4: return start == 0 ? 2 : 1;
    case 2: return 3 + start / 2;
    default: return 7 + start;
  }
}

Return create_at(const ChangeView& view, const MigProfile& profile, std::uint32_t start,
                 GpuInstanceHandle* handle) {
  MigFacts& mig = view.gpu.mig;
  for (std::uint32_t row = 0; row < max_gpu_instances; ++row) {
    GpuInstance& instance = mig.instances[row];
    if (instance.used != 0) continue;
    instance = GpuInstance{};
    instance.used = 1;
    instance.id = instance_id(start, profile.placement_size);
    instance.profile = static_cast<std::uint32_t>(&profile - mig.profiles);
    instance.start = start;
    instance.size = profile.placement_size;
    instance.load.kind = LoadKind::inherit;
    *handle = gpu_instance_handle(view.place.gpu, row);
    return Return::success;
  }
  return Return::insufficient_resources;
}

Return create_instance(const Function& function, Device device, unsigned profile_id,
                       bool arguments_good, const Placement* placement, GpuInstanceHandle* handle) {
  return change_gpu(
      function, device, arguments_good && handle != nullptr, [&](const ChangeView& view) {
        const MigFacts& mig = view.gpu.mig;
        if (mig.capable == 0 || mig.mode == 0) return Return::not_supported;
        const MigProfile* profile = profile_by_id(mig, profile_id);
        if (profile == nullptr) return Return::invalid_argument;
        const auto start =
            placement == nullptr ? choose_start(mig, *profile) : std::optional(placement->start);
        if (!start || !fits(mig, *profile, *start)) {
          return Return::insufficient_resources;
        }
        return create_at(view, *profile, *start, handle);
      });
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

// Version 5 in form only: made from the GPU's UUID and the two numbers, so it stays the same when
// an instance is made again, as it does on real cards for the same place.
void write_uuid(const Gpu& gpu, const GpuInstance& instance, ComputeInstance& compute) {
  const std::string_view parent = text_of(gpu.identity.uuid);
  const std::uint32_t one = name_hash(parent);
  const std::uint32_t two = name_hash(parent.substr(parent.size() / 2));
  std::snprintf(compute.uuid, sizeof compute.uuid, "MIG-%08x-%04x-5%03x-8%03x-%08x%02x%02x", one,
                two >> 16U, two & 0xFFFU, one & 0xFFFU, two, instance.id & 0xFFU,
                compute.id & 0xFFU);
}

Return create_compute_at(const ChangeView& view, const ComputeProfile& profile, std::uint32_t start,
                         ComputeInstanceHandle* handle) {
  GpuInstance& instance = view.gpu.mig.instances[view.place.instance];
  const MigProfile& gpu_profile = profile_of(view.gpu, instance);
  for (std::uint32_t row = 0; row < max_compute_instances; ++row) {
    ComputeInstance& compute = instance.compute[row];
    if (compute.used != 0) continue;
    compute = ComputeInstance{};
    compute.id = free_id(instance);
    compute.used = 1;
    compute.profile = static_cast<std::uint32_t>(&profile - gpu_profile.compute);
    compute.start = start;
    compute.size = profile.slices;
    write_uuid(view.gpu, instance, compute);
    *handle = compute_instance_handle({view.place.gpu, view.place.instance, row});
    return Return::success;
  }
  return Return::insufficient_resources;
}

Return create_compute(const Function& function, GpuInstanceHandle gpu_instance, unsigned profile_id,
                      bool arguments_good, const Placement* placement,
                      ComputeInstanceHandle* handle) {
  const bool good = arguments_good && handle != nullptr;
  return change_instance(function, gpu_instance, good, [&](const ChangeView& view) {
    const GpuInstance& instance = view.gpu.mig.instances[view.place.instance];
    const MigProfile& gpu_profile = profile_of(view.gpu, instance);
    const ComputeProfile* profile = compute_profile_by_id(gpu_profile, profile_id);
    if (profile == nullptr) return Return::invalid_argument;
    const auto start = placement == nullptr ? choose_start(gpu_profile, instance, profile->slices)
                                            : std::optional(placement->start);
    if (!start || !fits(gpu_profile, instance, *profile, *start)) {
      return Return::insufficient_resources;
    }
    return create_compute_at(view, *profile, *start, handle);
  });
}

bool runs_in(const Process& process, const GpuInstance& instance) {
  return process.kind != ProcessKind::none && process.gpu_instance == instance.id;
}

}  // namespace

extern "C" {

Return nvmlDeviceSetMigMode(Device device, unsigned mode, Return* activation_status) {
  const bool good = mode <= mig_enable && activation_status != nullptr;
  return change_gpu(fn(__func__), device, good, [&](const ChangeView& view) {
    if (view.gpu.mig.capable == 0) return Return::not_supported;
    view.gpu.mig.pending_mode = mode;
    *activation_status = activate(view.gpu, mode);
    return Return::success;
  });
}

Return nvmlDeviceCreateGpuInstance(Device device, unsigned profile_id,
                                   GpuInstanceHandle* gpu_instance) {
  return create_instance(fn(__func__), device, profile_id, true, nullptr, gpu_instance);
}

Return nvmlDeviceCreateGpuInstanceWithPlacement(Device device, unsigned profile_id,
                                                const Placement* placement,
                                                GpuInstanceHandle* gpu_instance) {
  return create_instance(fn(__func__), device, profile_id, placement != nullptr, placement,
                         gpu_instance);
}

Return nvmlGpuInstanceDestroy(GpuInstanceHandle gpu_instance) {
  return change_instance(fn(__func__), gpu_instance, true, [](const ChangeView& view) {
    GpuInstance& instance = view.gpu.mig.instances[view.place.instance];
    const bool holds_compute = std::ranges::any_of(
        instance.compute, [](const ComputeInstance& one) { return one.used != 0; });
    const bool holds_process = std::ranges::any_of(
        view.gpu.processes, [&](const Process& one) { return runs_in(one, instance); });
    if (holds_compute || holds_process) return Return::in_use;
    instance = GpuInstance{};
    return Return::success;
  });
}

Return nvmlGpuInstanceCreateComputeInstance(GpuInstanceHandle gpu_instance, unsigned profile_id,
                                            ComputeInstanceHandle* compute_instance) {
  return create_compute(fn(__func__), gpu_instance, profile_id, true, nullptr, compute_instance);
}

Return nvmlGpuInstanceCreateComputeInstanceWithPlacement(GpuInstanceHandle gpu_instance,
                                                         unsigned profile_id,
                                                         const Placement* placement,
                                                         ComputeInstanceHandle* compute_instance) {
  return create_compute(fn(__func__), gpu_instance, profile_id, placement != nullptr, placement,
                        compute_instance);
}

Return nvmlComputeInstanceDestroy(ComputeInstanceHandle compute_instance) {
  return change_instance(fn(__func__), compute_instance, true, [](const ChangeView& view) {
    const GpuInstance& instance = view.gpu.mig.instances[view.place.instance];
    ComputeInstance& compute =
        view.gpu.mig.instances[view.place.instance].compute[view.place.compute];
    const bool in_use = std::ranges::any_of(view.gpu.processes, [&](const Process& one) {
      return runs_in(one, instance) && one.compute_instance == compute.id;
    });
    if (in_use) return Return::in_use;
    compute = ComputeInstance{};
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
