// Simulated library: MIG calls that change the card, and what a card refuses.
#include <algorithm>

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

Return create_at(const ChangeView& view, const MigProfile& profile, std::uint32_t start,
                 GpuInstanceHandle* handle) {
  MigFacts& mig = view.gpu.mig;
  const GpuInstance* made = add_instance(mig, profile, start);
  if (made == nullptr) return Return::insufficient_resources;
  *handle = gpu_instance_handle(view.place.gpu, static_cast<std::uint32_t>(made - mig.instances));
  return Return::success;
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

Return create_compute_at(const ChangeView& view, const ComputeProfile& profile, std::uint32_t start,
                         ComputeInstanceHandle* handle) {
  GpuInstance& instance = view.gpu.mig.instances[view.place.instance];
  const ComputeInstance* made = add_compute(view.gpu, instance, profile, start);
  if (made == nullptr) return Return::insufficient_resources;
  const auto row = static_cast<std::uint32_t>(made - instance.compute);
  *handle = compute_instance_handle({view.place.gpu, view.place.instance, row});
  return Return::success;
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
