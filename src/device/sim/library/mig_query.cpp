// Simulated library: MIG as it stands: mode, profiles, placements, instances, devices.
#include <algorithm>
#include <cstring>
#include <string>

#include "device/sim/library/gate.h"
#include "device/sim/library/mig_places.h"
#include "device/sim/library/mig_plan.h"

namespace stoker::sim {
namespace {

// A profile by the number that callers enumerate, of a product that has MIG at all.
Return on_profile(const Function& function, Device device, unsigned number, bool arguments_good,
                  FunctionRef<Return(const View&, const MigProfile&)> body) {
  const bool good = arguments_good && number < gpu_instance_profile_count;
  return on_gpu(function, device, good, [&](const View& view) {
    if (view.gpu.mig.capable == 0) return Return::not_supported;
    const MigProfile* profile = profile_by_number(view.gpu.mig, number);
    return profile == nullptr ? Return::not_supported : body(view, *profile);
  });
}

// The parts that all layouts share; v3 lacks p2p_supported and v1 the name.
template <typename Info>
void fill_counts(const MigProfile& profile, Info& info) {
  info.id = profile.id;
  info.slices = profile.slices;
  info.instances = profile.instances;
  info.multiprocessors = profile.multiprocessors;
  info.copy_engines = profile.copy_engines;
  info.decoders = profile.decoders;
  info.encoders = profile.encoders;
  info.jpeg_engines = profile.jpeg_engines;
  info.ofa_engines = profile.ofa_engines;
  info.memory_mib = profile.memory_mib;
}

Return fill_versioned(const View& view, const MigProfile& profile, void* info) {
  const std::uint32_t version = *static_cast<const std::uint32_t*>(info);
  const bool has_v3 = nvml::row_for("nvmlDeviceGetGpuInstanceProfileInfoV", 3,
                                    version_of(view.state.driver)) != nullptr;
  if (version == version_tag<GpuInstanceProfileInfoV2>(2)) {
    auto& out = *static_cast<GpuInstanceProfileInfoV2*>(info);
    fill_counts(profile, out);
    out.p2p_supported = profile.p2p;
    fill_mig_name(text_of(profile.name), out.name);
    return Return::success;
  }
  if (version == version_tag<GpuInstanceProfileInfoV3>(3) && has_v3) {
    auto& out = *static_cast<GpuInstanceProfileInfoV3*>(info);
    fill_counts(profile, out);
    fill_mig_name(text_of(profile.name), out.name);
    out.capabilities = profile.capabilities;
    return Return::success;
  }
  return Return::argument_version_mismatch;
}

// Room is the caller's business here: nvml.h has the count as a result only.
Return placements(const Function& function, Device device, unsigned profile_id, Placement* out,
                  unsigned* count) {
  return on_gpu(function, device, count != nullptr, [&](const View& view) {
    if (view.gpu.mig.capable == 0) return Return::not_supported;
    const MigProfile* profile = profile_by_id(view.gpu.mig, profile_id);
    if (profile == nullptr) return Return::not_supported;
    *count = profile->placement_count;
    for (std::uint32_t i = 0; out != nullptr && i < profile->placement_count; ++i) {
      out[i] = {profile->placement_start[i], profile->placement_size};
    }
    return Return::success;
  });
}

// A call that makes sense only while MIG is on.
Return on_mig_gpu(const Function& function, Device device, bool arguments_good, Body body) {
  return on_gpu(function, device, arguments_good, [&](const View& view) {
    const bool on = view.gpu.mig.capable != 0 && view.gpu.mig.mode != 0;
    return on ? body(view) : Return::not_supported;
  });
}

Return fill_attributes(const View& view, Attributes& out) {
  const MigProfile& profile = profile_of(view.gpu, view.instance());
  const ComputeProfile& compute = profile_of(view.gpu, view.instance(), view.compute());
  out.multiprocessors = compute.multiprocessors;
  out.shared_copy_engines = profile.copy_engines;
  out.shared_decoders = profile.decoders;
  out.shared_encoders = profile.encoders;
  out.shared_jpeg_engines = profile.jpeg_engines;
  out.shared_ofa_engines = profile.ofa_engines;
  out.gpu_instance_slices = profile.slices;
  out.compute_instance_slices = compute.slices;
  out.memory_mib = profile.memory_mib;
  return Return::success;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMigMode(Device device, unsigned* current_mode, unsigned* pending_mode) {
  const bool good = current_mode != nullptr && pending_mode != nullptr;
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    if (view.gpu.mig.capable == 0) return Return::not_supported;
    *current_mode = view.gpu.mig.mode;
    *pending_mode = view.gpu.mig.pending_mode;
    return Return::success;
  });
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  return tell(fn(__func__), device, count, [](const View& view) {
    return view.gpu.mig.mode != 0 ? view.gpu.mig.max_devices : 0;
  });
}

Return nvmlDeviceIsMigDeviceHandle(Device device, unsigned* is_mig_device) {
  return tell(
      fn(__func__), device, is_mig_device, [](const View& view) { return view.place.is_mig(); },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  return tell(
      fn(__func__), device, id, [](const View& view) { return view.instance().id; }, Takes::mig);
}

Return nvmlDeviceGetComputeInstanceId(Device device, unsigned* id) {
  return tell(
      fn(__func__), device, id, [](const View& view) { return view.compute().id; }, Takes::mig);
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* mig_device) {
  return on_gpu(fn(__func__), device, mig_device != nullptr, [&](const View& view) {
    if (view.gpu.mig.capable == 0) return Return::not_supported;
    if (index >= std::max(1U, view.gpu.mig.max_devices)) return Return::invalid_argument;
    const auto devices = mig_devices(view.gpu, view.place.gpu);
    if (index >= devices.size()) return Return::not_found;
    *mig_device = mig_handle(devices[index]);
    return Return::success;
  });
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device mig_device, Device* device) {
  return tell(
      fn(__func__), mig_device, device,
      [](const View& view) { return device_handle(view.place.gpu); }, Takes::mig);
}

Return nvmlDeviceGetAttributes_v2(Device device, Attributes* attributes) {
  return on_gpu(
      fn(__func__), device, attributes != nullptr,
      [&](const View& view) {
        return view.place.is_mig() ? fill_attributes(view, *attributes) : Return::not_supported;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetAttributes(Device device, AttributesV1* attributes) {
  return on_gpu(
      fn(__func__), device, attributes != nullptr,
      [&](const View& view) {
        if (!view.place.is_mig()) return Return::not_supported;
        Attributes all{};
        fill_attributes(view, all);
        *attributes = {all.multiprocessors, all.shared_copy_engines, all.shared_decoders,
                       all.shared_encoders, all.shared_jpeg_engines, all.shared_ofa_engines};
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetGpuInstanceProfileInfo(Device device, unsigned profile,
                                           GpuInstanceProfileInfoV1* info) {
  return on_profile(fn(__func__), device, profile, info != nullptr,
                    [&](const View&, const MigProfile& found) {
                      fill_counts(found, *info);
                      info->p2p_supported = found.p2p;
                      return Return::success;
                    });
}

Return nvmlDeviceGetGpuInstanceProfileInfoV(Device device, unsigned profile, void* info) {
  return on_profile(
      fn(__func__), device, profile, info != nullptr,
      [&](const View& view, const MigProfile& found) { return fill_versioned(view, found, info); });
}

Return nvmlDeviceGetGpuInstancePossiblePlacements_v2(Device device, unsigned profile_id,
                                                     Placement* out, unsigned* count) {
  return placements(fn(__func__), device, profile_id, out, count);
}
Return nvmlDeviceGetGpuInstancePossiblePlacements(Device device, unsigned profile_id,
                                                  Placement* out, unsigned* count) {
  return placements(fn(__func__), device, profile_id, out, count);
}

Return nvmlDeviceGetGpuInstanceRemainingCapacity(Device device, unsigned profile_id,
                                                 unsigned* count) {
  return on_mig_gpu(fn(__func__), device, count != nullptr, [&](const View& view) {
    const MigProfile* profile = profile_by_id(view.gpu.mig, profile_id);
    if (profile == nullptr) return Return::not_supported;
    *count = remaining(view.gpu.mig, *profile);
    return Return::success;
  });
}

Return nvmlDeviceGetGpuInstances(Device device, unsigned profile_id,
                                 GpuInstanceHandle* gpu_instances, unsigned* count) {
  const bool good = gpu_instances != nullptr && count != nullptr;
  return on_mig_gpu(fn(__func__), device, good, [&](const View& view) {
    if (profile_by_id(view.gpu.mig, profile_id) == nullptr) return Return::invalid_argument;
    unsigned found = 0;
    for (std::uint32_t row = 0; row < max_gpu_instances; ++row) {
      const GpuInstance& instance = view.gpu.mig.instances[row];
      if (instance.used != 0 && profile_of(view.gpu, instance).id == profile_id) {
        gpu_instances[found++] = gpu_instance_handle(view.place.gpu, row);
      }
    }
    *count = found;
    return Return::success;
  });
}

Return nvmlDeviceGetGpuInstanceById(Device device, unsigned id, GpuInstanceHandle* gpu_instance) {
  return on_mig_gpu(fn(__func__), device, gpu_instance != nullptr, [&](const View& view) {
    for (std::uint32_t row = 0; row < max_gpu_instances; ++row) {
      const GpuInstance& instance = view.gpu.mig.instances[row];
      if (instance.used == 0 || instance.id != id) continue;
      *gpu_instance = gpu_instance_handle(view.place.gpu, row);
      return Return::success;
    }
    return Return::not_found;
  });
}

Return nvmlGpuInstanceGetInfo(GpuInstanceHandle gpu_instance, GpuInstanceInfo* info) {
  return on_instance(fn(__func__), gpu_instance, info != nullptr, [&](const View& view) {
    const GpuInstance& instance = view.instance();
    *info = {device_handle(view.place.gpu),
             instance.id,
             profile_of(view.gpu, instance).id,
             {instance.start, instance.size}};
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
