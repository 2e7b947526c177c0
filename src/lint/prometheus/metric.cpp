#include "lint/prometheus/metric.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/closest.h"
#include "catalog/dcgm_names.h"

namespace stoker::lint {
namespace {

constexpr bool on = true;
constexpr bool off = false;
constexpr auto gpu_metrics = std::to_array<GpuMetric>({
#define STOKER_PROM_METRIC(name, kind, unit, exported) \
  {#name, MetricKind::kind, MetricUnit::unit, exported},
#include "lint/prometheus/metrics.def"
#undef STOKER_PROM_METRIC
});

// Made by dcgm-exporter itself: internal/pkg/counters/const.go.
constexpr auto exporter_names = std::to_array<std::string_view>(
    {"DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_XID_ERRORS_TOTAL", "DCGM_EXP_CLOCK_EVENTS_COUNT",
     "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_EXP_P2P_STATUS"});

// Lists and structures: github.com/NVIDIA/DCGM dcgmlib/src/dcgm_fields.cpp, DCGM_FT_BINARY.
constexpr auto binary_names = std::to_array<std::string_view>(
    {"DCGM_FI_SYNC_BOOST", "DCGM_FI_DEV_SUPPORTED_CLOCKS", "DCGM_FI_DEV_ACCOUNTING_DATA",
     "DCGM_FI_DEV_GRAPHICS_PIDS", "DCGM_FI_DEV_COMPUTE_PIDS"});

}  // namespace

const GpuMetric* find_gpu_metric(std::string_view name) {
  const auto* row = std::ranges::find(gpu_metrics, name, &GpuMetric::name);
  if (row != gpu_metrics.end()) return row;
  const auto id = dcgm_id_of(name);
  if (!id) return nullptr;
  row = std::ranges::find_if(
      gpu_metrics, [&](const GpuMetric& metric) { return dcgm_id_of(metric.name) == id; });
  return row == gpu_metrics.end() ? nullptr : row;
}

bool is_dcgm_name(std::string_view name) {
  return name.starts_with("DCGM_FI_") || name.starts_with("DCGM_EXP_");
}

bool is_known_dcgm_name(std::string_view name) {
  return dcgm_id_of(name).has_value() ||
         std::ranges::find(exporter_names, name) != exporter_names.end();
}

bool is_binary_dcgm_name(std::string_view name) {
  return std::ranges::find(binary_names, name) != binary_names.end();
}

std::string nearest_dcgm_name(std::string_view name) {
  static const auto all = [] {
    auto names = dcgm_names();
    names.insert(names.end(), exporter_names.begin(), exporter_names.end());
    return names;
  }();
  std::vector<std::string> names;
  std::ranges::copy_if(all, std::back_inserter(names), [&](const std::string& each) {
    constexpr std::size_t slip = 4;
    return std::max(each.size(), name.size()) - std::min(each.size(), name.size()) <= slip;
  });
  return did_you_mean(name, names);
}

}  // namespace stoker::lint
