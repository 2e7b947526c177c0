// Simulated library: power, its limits, energy, and the time that limits have cost.
#include <cmath>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

Return set_limit(const Function& function, Device device, bool arguments_good,
                 std::uint32_t limit_mw) {
  return change_gpu(function, device, arguments_good, [&](const ChangeView& view) {
    PowerFacts& power = view.gpu.power;
    if (power.management_mode == 0) return Return::not_supported;
    if (limit_mw < power.min_limit_mw || limit_mw > power.max_limit_mw) {
      return Return::invalid_argument;
    }
    rebase(view.gpu, view.now_ns());
    power.limit_mw = power.enforced_mw = limit_mw;
    return Return::success;
  });
}

std::uint64_t violation_ns(const View& view, std::size_t policy) {
  if (policy == static_cast<std::size_t>(PerfPolicy::power)) {
    return view.totals().power_violation_ns;
  }
  if (policy == static_cast<std::size_t>(PerfPolicy::thermal)) {
    return view.totals().thermal_violation_ns;
  }
  return view.gpu.power.violation_ns[policy];
}

}  // namespace

extern "C" {

Return nvmlDeviceGetPowerUsage(Device device, unsigned* power) {
  return tell(fn(__func__), device, power,
              [](const View& view) { return std::lround(view.activity().power_mw); });
}

Return nvmlDeviceGetTotalEnergyConsumption(Device device, std::uint64_t* energy) {
  return tell(fn(__func__), device, energy,
              [](const View& view) { return view.totals().energy_uj / 1000; });
}

Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* limit) {
  return tell(fn(__func__), device, limit,
              [](const View& view) { return view.gpu.power.enforced_mw; });
}

Return nvmlDeviceGetPowerManagementMode(Device device, EnableState* mode) {
  return tell(fn(__func__), device, mode,
              [](const View& view) { return view.gpu.power.management_mode; });
}

Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned* limit) {
  return tell(fn(__func__), device, limit,
              [](const View& view) { return view.gpu.power.limit_mw; });
}

Return nvmlDeviceGetPowerManagementLimitConstraints(Device device, unsigned* min_limit,
                                                    unsigned* max_limit) {
  return tell_two(fn(__func__), device, min_limit, max_limit, [](const View& view) {
    return std::pair(view.gpu.power.min_limit_mw, view.gpu.power.max_limit_mw);
  });
}

Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned* default_limit) {
  return tell(fn(__func__), device, default_limit,
              [](const View& view) { return view.gpu.power.default_limit_mw; });
}

Return nvmlDeviceSetPowerManagementLimit(Device device, unsigned limit) {
  return set_limit(fn(__func__), device, true, limit);
}

Return nvmlDeviceSetPowerManagementLimit_v2(Device device, PowerValueV2* power_value) {
  const bool good = power_value != nullptr && power_value->scope == PowerScope::gpu;
  if (good && power_value->version != version_tag<PowerValueV2>(2)) {
    return on_gpu(fn(__func__), device, true,
                  [](const View&) { return Return::argument_version_mismatch; });
  }
  return set_limit(fn(__func__), device, good, good ? power_value->milliwatts : 0);
}

Return nvmlDeviceGetViolationStatus(Device device, PerfPolicy perf_policy_type,
                                    ViolationTime* viol_time) {
  const auto policy = static_cast<std::size_t>(perf_policy_type);
  const bool good = viol_time != nullptr && policy < std::size(PowerFacts{}.violation_ns);
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    viol_time->reference_us = view.wall_us();
    viol_time->violation_ns = violation_ns(view, policy);
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
