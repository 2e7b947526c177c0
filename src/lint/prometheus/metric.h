// Analyzer stage: what a metric name in a rule stands for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::lint {

enum class MetricKind : std::uint8_t { gauge, counter, fault, last_xid, bits, other };
enum class MetricUnit : std::uint8_t {
  none,
  percent,
  ratio,
  celsius,
  watts,
  megahertz,
  mebibytes,
  millijoules,
  nanoseconds,
  count
};

struct GpuMetric {
  std::string_view name;  // as dcgm-exporter's counter files have it
  MetricKind kind;
  MetricUnit unit;
  bool exported;
};

// The row of the field that `name` spells in any way; nullptr: none, or nothing is known of it.
const GpuMetric* find_gpu_metric(std::string_view name);
// Is it a metric of dcgm-exporter, known or not?
bool is_dcgm_name(std::string_view name);
// Has DCGM or dcgm-exporter this name?
bool is_known_dcgm_name(std::string_view name);
// Is it a field of DCGM that is no number (DCGM_FT_BINARY in dcgm_fields.cpp), which the exporter leaves out?
bool is_binary_dcgm_name(std::string_view name);
// "did you mean '..'?"; empty: nothing is near.
std::string nearest_dcgm_name(std::string_view name);

}  // namespace stoker::lint
