#include "health/gpu_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::health {

Entity entity_of(const store::GpuSnapshot& gpu) {
  return {EntityKind::gpu, gpu.info.uuid.empty() ? gpu.info.pci.sysfs() : gpu.info.uuid};
}

std::string name_of(const store::GpuSnapshot& gpu) {
  if (gpu.info.uuid.empty()) return "The GPU at " + gpu.info.pci.sysfs();
  return fmt::format("GPU {} ({})", gpu.info.index, gpu.info.pci.sysfs());
}

bool answers(const store::GpuSnapshot& gpu) {
  const auto& all = gpu.readings.all();
  return std::any_of(all.begin(), all.end(), [](const auto& entry) {
    return entry.second.ok() && field(entry.first).proves_answer();
  });
}

Nanoseconds silent_for(const store::GpuSnapshot& gpu, MonotonicTime now) {
  return now - std::max(gpu.last_answer.value_or(gpu.state_since), gpu.state_since);
}

bool is_silent(const store::GpuSnapshot& gpu, MonotonicTime now) {
  constexpr Nanoseconds patience = Seconds(10);
  if (gpu.state != device::GpuState::present || answers(gpu)) return false;
  const auto& all = gpu.readings.all();
  return silent_for(gpu, now) > patience ||
         std::any_of(all.begin(), all.end(),
                     [](const auto& entry) { return entry.second.reason == Reason::stale; });
}

}  // namespace stoker::health
