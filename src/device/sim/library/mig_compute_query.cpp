// Simulated library: the compute instances of a GPU instance as they stand.
#include <algorithm>
#include <cstring>
#include <string>

#include "device/sim/library/gate.h"
#include "device/sim/library/mig_places.h"
#include "device/sim/library/mig_plan.h"

namespace stoker::sim {
namespace {

// A compute profile by the number that callers enumerate.
Return on_compute_profile(const Function& function, GpuInstanceHandle handle, unsigned number,
                          unsigned engine_profile, bool arguments_good,
                          FunctionRef<Return(const View&, const ComputeProfile&)> body) {
  const bool good = arguments_good && number < compute_instance_profile_count &&
                    engine_profile == compute_instance_engine_shared;
  return on_instance(function, handle, good, [&](const View& view) {
    const MigProfile& gpu_profile = profile_of(view.gpu, view.instance());
    for (const ComputeProfile& profile : gpu_profile.compute) {
      if (profile.slices != 0 && profile.number == number) return body(view, profile);
    }
    return Return::not_supported;
  });
}

ComputeInstanceProfileInfoV1 info_of(const View& view, const ComputeProfile& profile) {
  const MigProfile& gpu_profile = profile_of(view.gpu, view.instance());
  return {profile.id,
          profile.slices,
          profile.instances,
          profile.multiprocessors,
          gpu_profile.copy_engines,
          gpu_profile.decoders,
          gpu_profile.encoders,
          gpu_profile.jpeg_engines,
          gpu_profile.ofa_engines};
}

Return fill_versioned(const View& view, const ComputeProfile& profile, void* info) {
  const std::uint32_t version = *static_cast<const std::uint32_t*>(info);
  const bool has_v3 = nvml::row_for("nvmlGpuInstanceGetComputeInstanceProfileInfoV", 3,
                                    version_of(view.state.driver)) != nullptr;
  if (version == version_tag<ComputeInstanceProfileInfoV2>(2)) {
    auto& out = *static_cast<ComputeInstanceProfileInfoV2*>(info);
    out.info = info_of(view, profile);
    fill_mig_name(text_of(profile.name), out.name);
    return Return::success;
  }
  if (version == version_tag<ComputeInstanceProfileInfoV3>(3) && has_v3) {
    auto& out = *static_cast<ComputeInstanceProfileInfoV3*>(info);
    out.info = info_of(view, profile);
    fill_mig_name(text_of(profile.name), out.name);
    out.capabilities = 0;
    return Return::success;
  }
  return Return::argument_version_mismatch;
}

ComputeInstanceInfo info_of(const View& view) {
  const ComputeInstance& compute = view.compute();
  return {device_handle(view.place.gpu),
          gpu_instance_handle(view.place.gpu, view.place.instance),
          compute.id,
          profile_of(view.gpu, view.instance(), compute).id,
          {compute.start, compute.size}};
}

}  // namespace

extern "C" {

Return nvmlGpuInstanceGetComputeInstanceProfileInfo(GpuInstanceHandle gpu_instance,
                                                    unsigned profile, unsigned eng_profile,
                                                    ComputeInstanceProfileInfoV1* info) {
  return on_compute_profile(fn(__func__), gpu_instance, profile, eng_profile, info != nullptr,
                            [&](const View& view, const ComputeProfile& found) {
                              *info = info_of(view, found);
                              return Return::success;
                            });
}

Return nvmlGpuInstanceGetComputeInstanceProfileInfoV(GpuInstanceHandle gpu_instance,
                                                     unsigned profile, unsigned eng_profile,
                                                     void* info) {
  return on_compute_profile(fn(__func__), gpu_instance, profile, eng_profile, info != nullptr,
                            [&](const View& view, const ComputeProfile& found) {
                              return fill_versioned(view, found, info);
                            });
}

Return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(GpuInstanceHandle gpu_instance,
                                                          unsigned profile_id, unsigned* count) {
  return on_instance(fn(__func__), gpu_instance, count != nullptr, [&](const View& view) {
    const MigProfile& gpu_profile = profile_of(view.gpu, view.instance());
    const ComputeProfile* profile = compute_profile_by_id(gpu_profile, profile_id);
    if (profile == nullptr) return Return::not_supported;
    *count = remaining(gpu_profile, view.instance(), *profile);
    return Return::success;
  });
}

Return nvmlGpuInstanceGetComputeInstancePossiblePlacements(GpuInstanceHandle gpu_instance,
                                                           unsigned profile_id,
                                                           Placement* placements, unsigned* count) {
  return on_instance(fn(__func__), gpu_instance, count != nullptr, [&](const View& view) {
    const MigProfile& gpu_profile = profile_of(view.gpu, view.instance());
    const ComputeProfile* profile = compute_profile_by_id(gpu_profile, profile_id);
    if (profile == nullptr) return Return::not_supported;
    *count = 0;
    for (std::uint32_t start = 0; start + profile->slices <= gpu_profile.slices; ++start) {
      if (placements != nullptr) placements[*count] = {start, profile->slices};
      ++*count;
    }
    return Return::success;
  });
}

Return nvmlGpuInstanceGetComputeInstances(GpuInstanceHandle gpu_instance, unsigned profile_id,
                                          ComputeInstanceHandle* compute_instances,
                                          unsigned* count) {
  const bool good = compute_instances != nullptr && count != nullptr;
  return on_instance(fn(__func__), gpu_instance, good, [&](const View& view) {
    const MigProfile& gpu_profile = profile_of(view.gpu, view.instance());
    if (compute_profile_by_id(gpu_profile, profile_id) == nullptr) return Return::invalid_argument;
    unsigned found = 0;
    for (std::uint32_t row = 0; row < max_compute_instances; ++row) {
      const ComputeInstance& compute = view.instance().compute[row];
      if (compute.used != 0 && gpu_profile.compute[compute.profile].id == profile_id) {
        compute_instances[found++] =
            compute_instance_handle({view.place.gpu, view.place.instance, row});
      }
    }
    *count = found;
    return Return::success;
  });
}

Return nvmlGpuInstanceGetComputeInstanceById(GpuInstanceHandle gpu_instance, unsigned id,
                                             ComputeInstanceHandle* compute_instance) {
  return on_instance(
      fn(__func__), gpu_instance, compute_instance != nullptr, [&](const View& view) {
        for (std::uint32_t row = 0; row < max_compute_instances; ++row) {
          const ComputeInstance& compute = view.instance().compute[row];
          if (compute.used == 0 || compute.id != id) continue;
          *compute_instance = compute_instance_handle({view.place.gpu, view.place.instance, row});
          return Return::success;
        }
        return Return::not_found;
      });
}

Return nvmlComputeInstanceGetInfo_v2(ComputeInstanceHandle compute_instance,
                                     ComputeInstanceInfo* info) {
  return on_instance(fn(__func__), compute_instance, info != nullptr, [&](const View& view) {
    *info = info_of(view);
    return Return::success;
  });
}

Return nvmlComputeInstanceGetInfo(ComputeInstanceHandle compute_instance,
                                  ComputeInstanceInfoV1* info) {
  return on_instance(fn(__func__), compute_instance, info != nullptr, [&](const View& view) {
    const ComputeInstanceInfo all = info_of(view);
    *info = {all.device, all.gpu_instance, all.id, all.profile_id};
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
