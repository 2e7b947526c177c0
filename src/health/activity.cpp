#include "health/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "health/check_text.h"

namespace stoker::health {
namespace {

using store::GpuSnapshot;

// A field that shows work, and from what on. Measured on two H200 at 5 Hz (docs/specs/hangs.md): a card that waits in an
// all-reduce or in a receive reads 0.00 % on each of these units, one that is starved 0.4 % of DRAM and 1.2 % of the
// tensor cores, as means of two seconds.
struct Sign {
  FieldId field;
  double from;
};
constexpr double unit_percent = 0.1;
// A pipeline's transfers showed 13 MB/s as a mean, a waiting card below 0.02.
constexpr double nvlink_bytes = 1e6;
// A waiting card read 0.8 MB/s, the driver's own talk; a network's proxy may poll through it.
constexpr double pcie_bytes = 50e6;
// NCCL has at most 64 channels, a block each (MAXCHANNELS, nccl: src/include/device.h): not half of 132 SMs.
constexpr double more_sms_than_channels = 50;
constexpr auto unit_signs = std::to_array<Sign>({{FieldId::tensor_active, unit_percent},
                                                 {FieldId::dram_active, unit_percent},
                                                 {FieldId::fp64_active, unit_percent},
                                                 {FieldId::fp32_active, unit_percent},
                                                 {FieldId::fp16_active, unit_percent}});
constexpr auto other_signs = std::to_array<Sign>({{FieldId::memory_utilization, 1},
                                                  {FieldId::sm_active, more_sms_than_channels},
                                                  {FieldId::encoder_utilization, 1},
                                                  {FieldId::decoder_utilization, 1},
                                                  {FieldId::nvlink_tx, nvlink_bytes},
                                                  {FieldId::nvlink_rx, nvlink_bytes},
                                                  {FieldId::pcie_tx, pcie_bytes},
                                                  {FieldId::pcie_rx, pcie_bytes}});
// A kernel that waits is always there; one that comes and goes is work.
constexpr double always_percent = 95;
// Integer arithmetic shows on none of the units above, and yet takes power: waiting took 17 % of the limit, held clocks
// with it, arithmetic in registers 62 %.
constexpr double working_share_of_power = 0.4;

std::optional<double> known(const GpuSnapshot& gpu, FieldId id) {
  const Reading reading = gpu.readings.get(id);
  return reading.ok() ? std::optional(as_double(reading.value)) : std::nullopt;
}

bool shows(const GpuSnapshot& gpu, const Sign& sign) {
  return known(gpu, sign.field).value_or(0) >= sign.from;
}

bool takes_power(const GpuSnapshot& gpu) {
  const auto power = known(gpu, FieldId::power);
  const auto limit = known(gpu, FieldId::power_limit);
  return power && limit && *limit > 0 && *power >= working_share_of_power * *limit;
}

}  // namespace

const char* to_string(Activity activity) {
  switch (activity) {
    case Activity::rests: return "rests";
    case Activity::spins: return "waits";
    case Activity::works: return "works";
    default: return "is not known";
  }
}

CardActivity activity_of(const GpuSnapshot& gpu) {
  CardActivity activity;
  // What a whole GPU reads says nothing about its instances, and most of it is not told then.
  if (gpu.state != device::GpuState::present || gpu.info.mig_enabled) return activity;
  const Reading resident = gpu.readings.get(FieldId::utilization);
  activity.at = resident.taken_at;
  const auto shown = [&](const Sign& sign) {
    activity.at = std::max(activity.at, gpu.readings.get(sign.field).taken_at);
    return shows(gpu, sign);
  };
  // Not any_of: each has its time.
  bool works = false;
  for (const Sign& sign : unit_signs) works = shown(sign) || works;
  for (const Sign& sign : other_signs) works = shown(sign) || works;
  if (works) return {.what = Activity::works, .proven = true, .at = activity.at};
  if (!resident.ok()) return activity;
  const double percent = as_double(resident.value);
  if (percent <= 0) {
    activity.what = Activity::rests;
  } else if (percent < always_percent || takes_power(gpu)) {
    activity.what = Activity::works;
  } else {
    activity.what = Activity::spins;
  }
  activity.proven =
      activity.what != Activity::spins || std::ranges::all_of(unit_signs, [&](const Sign& sign) {
        return known(gpu, sign.field).has_value();
      });
  return activity;
}

std::string activity_text(const GpuSnapshot& gpu) {
  constexpr auto told = std::to_array<FieldId>(
      {FieldId::utilization, FieldId::sm_active, FieldId::tensor_active, FieldId::dram_active,
       FieldId::fp32_active, FieldId::nvlink_rx, FieldId::pcie_rx, FieldId::power});
  std::string text;
  for (const FieldId id : told) {
    const auto value = known(gpu, id);
    if (!value) continue;
    const Field& row = field(id);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.name, with_unit(*value, row.unit));
  }
  const auto limit = known(gpu, FieldId::power_limit);
  if (limit && known(gpu, FieldId::power)) {
    text += " of " + with_unit(*limit, field(FieldId::power_limit).unit);
  }
  return text.empty() ? "nothing of it is known" : text;
}

}  // namespace stoker::health
