// NVML's GPU performance monitoring: two opaque samples in, rates of the time between them out.
// Hopper and later, driver 520 and later (header 11.8). Stage: device.
#pragma once

#include "device/nvml/enums.h"

namespace stoker::nvml::abi {

/// Percent of the time between the samples, or MiB/s where the name says per_sec.
enum class GpmMetricId : std::uint32_t {
  graphics_util = 1,
  sm_util = 2,
  sm_occupancy = 3,
  integer_util = 4,
  any_tensor_util = 5,
  dfma_tensor_util = 6,
  hmma_tensor_util = 7,
  imma_tensor_util = 9,
  dram_bandwidth_util = 10,
  fp64_util = 11,
  fp32_util = 12,
  fp16_util = 13,
  pcie_tx_per_sec = 20,
  pcie_rx_per_sec = 21,
  nvdec_0_util = 30,  // eight engines, one id each
  nvjpg_0_util = 40,  // eight engines
  nvofa_0_util = 50,  // two engines, the second since 12.4
  nvlink_total_rx_per_sec = 60,
  nvlink_total_tx_per_sec = 61,
  nvlink_0_rx_per_sec = 62,  // link n: 62 + 2n receives, 63 + 2n sends; n < 18
  nvlink_0_tx_per_sec = 63,
  c2c_total_tx_per_sec = 100,  // (12.9)
  c2c_total_rx_per_sec = 101,  // (12.9)
  nvenc_0_util = 166,          // (12.9), four engines
};

struct GpmMetric {
  std::uint32_t id;
  Return status;
  double value;
  const char* short_name;  // of the library's, valid until shutdown
  const char* long_name;
  const char* unit;
};
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8);

/// The array's length grew while the version stayed 1: 98 entries to 12.8, 210 to 13.1, 333 from
/// 13.2. Only `count` entries are in use; a caller offers the longest, so nothing can overrun.
inline constexpr std::size_t gpm_max_metrics_11_8 = 98;
inline constexpr std::size_t gpm_max_metrics_12_9 = 210;
inline constexpr std::size_t gpm_max_metrics_13_2 = 333;

template <std::size_t entries>
struct GpmMetricsGetOf {
  std::uint32_t version;  // the plain number 1, no size in it
  std::uint32_t count;
  GpmSample earlier;
  GpmSample later;
  GpmMetric metrics[entries];
};
using GpmMetricsGet = GpmMetricsGetOf<gpm_max_metrics_13_2>;
inline constexpr std::uint32_t gpm_metrics_get_version = 1;
static_assert(sizeof(GpmMetricsGetOf<gpm_max_metrics_11_8>) == 3944);
static_assert(sizeof(GpmMetricsGetOf<gpm_max_metrics_12_9>) == 8424);
static_assert(sizeof(GpmMetricsGet) == 13344 && offsetof(GpmMetricsGet, metrics) == 24);

struct GpmSupport {
  std::uint32_t version;  // the plain number 1
  std::uint32_t supported;
};
inline constexpr std::uint32_t gpm_support_version = 1;
static_assert(sizeof(GpmSupport) == 8);

}  // namespace stoker::nvml::abi
