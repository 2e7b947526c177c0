// Simulated library: switches of a GPU, and the calls that turn them.
#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

using Mode = std::uint32_t ModeFacts::*;

template <typename Out>
Return tell_mode(const Function& function, Device device, Out* out, Mode mode) {
  return tell(function, device, out, [&](const View& view) { return view.gpu.modes.*mode; });
}

Return set_mode(const Function& function, Device device, std::uint32_t value, std::uint32_t highest,
                Mode mode) {
  return change_gpu(function, device, value <= highest, [&](const ChangeView& view) {
    view.gpu.modes.*mode = value;
    return Return::success;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetPersistenceMode(Device device, EnableState* mode) {
  return tell_mode(fn(__func__), device, mode, &ModeFacts::persistence);
}

Return nvmlDeviceSetPersistenceMode(Device device, EnableState mode) {
  return set_mode(fn(__func__), device, static_cast<std::uint32_t>(mode), 1,
                  &ModeFacts::persistence);
}

// nvml.h: on a GPU in MIG mode the compute mode is that of its MIG devices.
Return nvmlDeviceGetComputeMode(Device device, ComputeMode* mode) {
  return tell(
      fn(__func__), device, mode, [](const View& view) { return view.gpu.modes.compute; },
      Takes::gpu_or_mig);
}

Return nvmlDeviceSetComputeMode(Device device, ComputeMode mode) {
  return set_mode(fn(__func__), device, static_cast<std::uint32_t>(mode), 3, &ModeFacts::compute);
}

Return nvmlDeviceGetEccMode(Device device, EnableState* current, EnableState* pending) {
  return tell_two(fn(__func__), device, current, pending, [](const View& view) {
    return std::pair(view.gpu.ecc.mode, view.gpu.ecc.pending_mode);
  });
}

Return nvmlDeviceGetDefaultEccMode(Device device, EnableState* default_mode) {
  return tell(fn(__func__), device, default_mode,
              [](const View& view) { return view.gpu.ecc.default_mode; });
}

// Takes effect with the next reset: only the pending mode changes.
Return nvmlDeviceSetEccMode(Device device, EnableState ecc) {
  const auto mode = static_cast<std::uint32_t>(ecc);
  return change_gpu(fn(__func__), device, mode <= 1, [&](const ChangeView& view) {
    view.gpu.ecc.pending_mode = mode;
    return Return::success;
  });
}

Return nvmlDeviceGetDisplayMode(Device device, EnableState* display) {
  return tell_mode(fn(__func__), device, display, &ModeFacts::display);
}

Return nvmlDeviceGetDisplayActive(Device device, EnableState* is_active) {
  return tell_mode(fn(__func__), device, is_active, &ModeFacts::display_active);
}

Return nvmlDeviceGetAccountingMode(Device device, EnableState* mode) {
  return tell_mode(fn(__func__), device, mode, &ModeFacts::accounting);
}

Return nvmlDeviceSetAccountingMode(Device device, EnableState mode) {
  return set_mode(fn(__func__), device, static_cast<std::uint32_t>(mode), 1,
                  &ModeFacts::accounting);
}

Return nvmlDeviceGetAccountingBufferSize(Device device, unsigned* buffer_size) {
  return tell_mode(fn(__func__), device, buffer_size, &ModeFacts::accounting_buffer);
}

Return nvmlDeviceGetAdaptiveClockInfoStatus(Device device, unsigned* adaptive_clock_status) {
  return tell_mode(fn(__func__), device, adaptive_clock_status, &ModeFacts::adaptive_clock);
}

Return nvmlDeviceGetAPIRestriction(Device device, RestrictedApi api_type,
                                   EnableState* is_restricted) {
  const bool known = static_cast<std::uint32_t>(api_type) <= 1;
  return tell(fn(__func__), device, known ? is_restricted : nullptr,
              [](const View&) { return EnableState::disabled; });
}

// Of Windows, of old boards, and of GeForce: no product of the simulator has them.
Return nvmlDeviceGetGpuOperationMode(Device device, GpuOperationMode* current,
                                     GpuOperationMode* pending) {
  return not_supported(fn(__func__), device, current != nullptr && pending != nullptr);
}
Return nvmlDeviceGetDriverModel(Device device, DriverModel* current, DriverModel* pending) {
  return not_supported(fn(__func__), device, current != nullptr && pending != nullptr);
}
Return nvmlDeviceGetDriverModel_v2(Device device, DriverModel* current, DriverModel* pending) {
  return not_supported(fn(__func__), device, current != nullptr && pending != nullptr);
}
Return nvmlDeviceGetAutoBoostedClocksEnabled(Device device, EnableState* is_enabled,
                                             EnableState* default_is_enabled) {
  return not_supported(fn(__func__), device,
                       is_enabled != nullptr && default_is_enabled != nullptr);
}

}  // extern "C"
}  // namespace stoker::sim
