// Simulated library: temperatures, their limits, and fans.
#include <algorithm>
#include <cmath>
#include <optional>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

int whole_celsius(double value) { return static_cast<int>(std::lround(value)); }

bool known(TemperatureSensor sensor) { return sensor == TemperatureSensor::gpu; }

// 580.159.04 on an H100 at 35 degrees with a software limit of 87 said 52. Nothing for a product whose limits no
// document gives.
std::optional<int> margin(const View& view) {
  for (const auto which : {TemperatureThreshold::gpu_max, TemperatureThreshold::slowdown}) {
    const std::int32_t limit = view.gpu.thermal.threshold_c[static_cast<std::size_t>(which)];
    if (limit == threshold_not_supported) continue;
    return limit - whole_celsius(view.activity().temperature_c);
  }
  return std::nullopt;
}

Return fan(const Function& function, Device device, unsigned index, unsigned* out,
           std::uint32_t ThermalFacts::* value) {
  return on_gpu(function, device, out != nullptr, [&](const View& view) {
    if (index >= view.gpu.thermal.fans) return Return::invalid_argument;
    *out = view.gpu.thermal.*value;
    return Return::success;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetTemperature(Device device, TemperatureSensor sensor_type, unsigned* temp) {
  return tell(fn(__func__), device, known(sensor_type) ? temp : nullptr, [](const View& view) {
    return std::max(0, whole_celsius(view.activity().temperature_c));
  });
}

Return nvmlDeviceGetTemperatureV(Device device, TemperatureV1* temperature) {
  return on_gpu(fn(__func__), device, temperature != nullptr, [&](const View& view) {
    if (temperature->version != version_tag<TemperatureV1>(1)) {
      return Return::argument_version_mismatch;
    }
    if (!known(temperature->sensor)) return Return::invalid_argument;
    temperature->celsius = whole_celsius(view.activity().temperature_c);
    return Return::success;
  });
}

Return nvmlDeviceGetTemperatureThreshold(Device device, TemperatureThreshold threshold_type,
                                         unsigned* temp) {
  const auto index = static_cast<std::size_t>(threshold_type);
  const bool good = temp != nullptr && index < std::size(ThermalFacts{}.threshold_c);
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    const std::int32_t limit = view.gpu.thermal.threshold_c[index];
    if (limit == threshold_not_supported) return Return::not_supported;
    *temp = static_cast<unsigned>(limit);
    return Return::success;
  });
}

Return nvmlDeviceGetMarginTemperature(Device device, MarginTemperatureV1* margin_temp_info) {
  return on_gpu(fn(__func__), device, margin_temp_info != nullptr, [&](const View& view) {
    if (margin_temp_info->version != version_tag<MarginTemperatureV1>(1)) {
      return Return::argument_version_mismatch;
    }
    const auto left = margin(view);
    if (!left) return Return::not_supported;
    margin_temp_info->celsius = *left;
    return Return::success;
  });
}

Return nvmlDeviceGetThermalSettings(Device device, unsigned sensor_index,
                                    ThermalSettings* thermal_settings) {
  constexpr unsigned all_sensors = 15;
  const bool known_sensor = sensor_index < max_thermal_sensors || sensor_index == all_sensors;
  return on_gpu(fn(__func__), device, known_sensor && thermal_settings != nullptr,
                [](const View&) { return Return::not_supported; });
}

Return nvmlDeviceGetNumFans(Device device, unsigned* num_fans) {
  return tell(fn(__func__), device, num_fans,
              [](const View& view) { return view.gpu.thermal.fans; });
}

Return nvmlDeviceGetFanSpeed(Device device, unsigned* speed) {
  return on_gpu(fn(__func__), device, speed != nullptr, [&](const View& view) {
    if (view.gpu.thermal.fans == 0) return Return::not_supported;
    *speed = view.gpu.thermal.fan_percent;
    return Return::success;
  });
}

Return nvmlDeviceGetFanSpeed_v2(Device device, unsigned index, unsigned* speed) {
  return fan(fn(__func__), device, index, speed, &ThermalFacts::fan_percent);
}

Return nvmlDeviceGetTargetFanSpeed(Device device, unsigned index, unsigned* target_speed) {
  return fan(fn(__func__), device, index, target_speed, &ThermalFacts::fan_percent);
}

Return nvmlDeviceGetFanSpeedRPM(Device device, FanSpeedInfoV1* fan_speed) {
  return on_gpu(fn(__func__), device, fan_speed != nullptr, [&](const View& view) {
    if (fan_speed->version != version_tag<FanSpeedInfoV1>(1)) {
      return Return::argument_version_mismatch;
    }
    if (fan_speed->fan >= view.gpu.thermal.fans) return Return::invalid_argument;
    fan_speed->rpm = view.gpu.thermal.fan_rpm;
    return Return::success;
  });
}

Return nvmlDeviceGetMinMaxFanSpeed(Device device, unsigned* min_speed, unsigned* max_speed) {
  const bool good = min_speed != nullptr && max_speed != nullptr;
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    if (view.gpu.thermal.fans == 0) return Return::invalid_argument;  // as an H100 said
    *min_speed = 0;
    *max_speed = 100;
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
