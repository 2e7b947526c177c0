// Simulated library: utilisation, and samples of the recent past.
#include <algorithm>
#include <cmath>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

// What 580.159.04 said beside the utilisation of each engine.
constexpr unsigned sampling_period_us = 100'000;

// nvml.h: in MIG mode no utilisation is told, of any engine.
bool in_mig_mode(const View& view) { return view.gpu.mig.mode != 0; }

// Engines that no modelled load uses.
Return idle_engine(const Function& function, Device device, unsigned* utilization,
                   unsigned* period_us) {
  return on_gpu(function, device, utilization != nullptr && period_us != nullptr,
                [&](const View& view) {
                  if (in_mig_mode(view)) return Return::not_supported;
                  *utilization = 0;
                  *period_us = sampling_period_us;
                  return Return::success;
                });
}

// How often each kind of sample was taken, as the time stamps of a capture on an H100 show.
constexpr std::uint64_t power_period_us = 20'000;
constexpr std::uint64_t utilization_period_us = 200'000;
constexpr unsigned kept_samples = 120;

unsigned sample_value(const Activity& activity, SamplingType type) {
  switch (type) {
    case SamplingType::total_power: return static_cast<unsigned>(std::lround(activity.power_mw));
    case SamplingType::gpu_utilization:
      return static_cast<unsigned>(std::lround(activity.gpu_percent));
    case SamplingType::memory_utilization:
      return static_cast<unsigned>(std::lround(activity.memory_percent));
    default: return 0;
  }
}

Return samples_since(const View& view, SamplingType type, std::uint64_t last_seen_us,
                     ArrayOut<Sample>& out) {
  const bool power = type == SamplingType::total_power;
  const std::uint64_t period = power ? power_period_us : utilization_period_us;
  const std::uint64_t wall = view.wall_us();
  const std::uint64_t now = view.now_ns();
  const std::uint64_t newest = wall / period * period;
  out.clear();
  for (unsigned back = kept_samples; back-- > 0;) {
    const std::uint64_t stamp = newest - back * period;
    const std::uint64_t age_ns = (wall - stamp) * 1000;
    if (stamp <= last_seen_us || age_ns > now) continue;
    Sample sample{};
    sample.timestamp_us = stamp;
    sample.value.as_unsigned_int = sample_value(activity(view.gpu, now - age_ns), type);
    out.add(sample);
  }
  return out.finish();
}

}  // namespace

extern "C" {

Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return on_gpu(fn(__func__), device, utilization != nullptr, [&](const View& view) {
    if (in_mig_mode(view)) return Return::not_supported;
    const Activity now = view.activity();
    utilization->gpu_percent = static_cast<unsigned>(std::lround(now.gpu_percent));
    utilization->memory_percent = static_cast<unsigned>(std::lround(now.memory_percent));
    return Return::success;
  });
}

Return nvmlDeviceGetEncoderUtilization(Device device, unsigned* utilization, unsigned* period_us) {
  return idle_engine(fn(__func__), device, utilization, period_us);
}
Return nvmlDeviceGetDecoderUtilization(Device device, unsigned* utilization, unsigned* period_us) {
  return idle_engine(fn(__func__), device, utilization, period_us);
}
Return nvmlDeviceGetJpgUtilization(Device device, unsigned* utilization, unsigned* period_us) {
  return idle_engine(fn(__func__), device, utilization, period_us);
}
Return nvmlDeviceGetOfaUtilization(Device device, unsigned* utilization, unsigned* period_us) {
  return idle_engine(fn(__func__), device, utilization, period_us);
}

// Clock samples were NOT_FOUND on an H100 and on H200s.
Return nvmlDeviceGetSamples(Device device, SamplingType type, std::uint64_t last_seen_time_stamp,
                            ValueType* sample_val_type, unsigned* sample_count, Sample* samples) {
  const bool ask_room = samples == nullptr && sample_count != nullptr;
  unsigned none = 0;
  ArrayOut<Sample> out(samples, ask_room ? &none : sample_count);
  const bool good = sample_val_type != nullptr && sample_count != nullptr && out.good();
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    if (in_mig_mode(view) && type != SamplingType::total_power) return Return::not_supported;
    if (type > SamplingType::decoder_utilization) return Return::not_found;
    *sample_val_type = ValueType::unsigned_int;
    if (ask_room) {
      *sample_count = kept_samples;
      return Return::success;
    }
    const Return filled = samples_since(view, type, last_seen_time_stamp, out);
    return *sample_count == 0 ? Return::not_found : filled;
  });
}

Return nvmlDeviceGetEncoderStats(Device device, unsigned* session_count, unsigned* average_fps,
                                 unsigned* average_latency) {
  const bool good =
      session_count != nullptr && average_fps != nullptr && average_latency != nullptr;
  return on_gpu(fn(__func__), device, good, [&](const View&) {
    *session_count = *average_fps = *average_latency = 0;
    return Return::success;
  });
}

Return nvmlDeviceGetEncoderCapacity(Device device, unsigned encoder_query_type,
                                    unsigned* encoder_capacity) {
  constexpr unsigned query_types = 4;  // H.264, HEVC, AV1, unknown
  const bool known = encoder_query_type < query_types;
  return on_gpu(fn(__func__), device, known && encoder_capacity != nullptr,
                [](const View&) { return Return::not_supported; });
}

Return nvmlDeviceGetDynamicPstatesInfo(Device device, DynamicPstatesInfo* dynamic_pstates_info) {
  return on_gpu(fn(__func__), device, dynamic_pstates_info != nullptr, [&](const View& view) {
    *dynamic_pstates_info = DynamicPstatesInfo{};
    const Activity now = view.activity();
    const double shares[] = {now.gpu_percent, now.memory_percent, 0, 0};
    for (std::size_t domain = 0; domain < std::size(shares); ++domain) {
      dynamic_pstates_info->domains[domain].present = 1;
      dynamic_pstates_info->domains[domain].percent =
          static_cast<unsigned>(std::lround(shares[domain]));
    }
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
