// The NVML field ids that we read: what goes into FieldValue before the call. Stage: device.
// Numbers: the NVML_FI_* of every nvml.h from 11.0 to 13.3 (NVIDIA/go-nvml tags). Trust the type that
// a value comes with, except double, which is what an untouched zero looks like.
// A success with the type untouched is no reading: see FieldValue.
#pragma once

#include <cstdint>

#include "device/nvml/enums.h"

namespace stoker::nvml::abi {

enum class FieldId : std::uint32_t {
  // ECC.
  ecc_mode_current = 1,
  ecc_mode_pending = 2,
  ecc_corrected_volatile = 3,
  ecc_uncorrected_volatile = 4,
  ecc_corrected_aggregate = 5,
  ecc_uncorrected_aggregate = 6,
  ecc_corrected_volatile_l1 = 7,
  ecc_uncorrected_volatile_l1 = 8,
  ecc_corrected_volatile_l2 = 9,
  ecc_uncorrected_volatile_l2 = 10,
  ecc_corrected_volatile_memory = 11,
  ecc_uncorrected_volatile_memory = 12,
  ecc_corrected_volatile_register_file = 13,
  ecc_uncorrected_volatile_register_file = 14,
  ecc_corrected_aggregate_l1 = 18,
  ecc_uncorrected_aggregate_l1 = 19,
  ecc_corrected_aggregate_l2 = 20,
  ecc_uncorrected_aggregate_l2 = 21,
  ecc_corrected_aggregate_memory = 22,
  ecc_uncorrected_aggregate_memory = 23,
  ecc_corrected_aggregate_register_file = 24,
  ecc_uncorrected_aggregate_register_file = 25,
  // Page retirement (before Ampere) and row remapping (since).
  retired_single_bit = 29,
  retired_double_bit = 30,
  retired_pending = 31,
  retired_pending_single_bit = 92,
  retired_pending_double_bit = 93,
  remapped_corrected = 142,
  remapped_uncorrected = 143,
  remapped_pending = 144,
  remapped_failure = 145,
  // Time below the asked-for clocks, in ns, by cause.
  violation_power = 74,
  violation_thermal = 75,
  violation_sync_boost = 76,
  violation_board_limit = 77,
  violation_low_utilization = 78,
  violation_reliability = 79,
  violation_app_clocks = 80,
  violation_base_clocks = 81,
  // The same by clock event reason. These moved: headers 12.9 and 13.0.39 have 251-253, 13.1 and
  // the 580.159.04 driver 269-271.
  event_sw_thermal_slowdown_ns = 269,
  event_hw_thermal_slowdown_ns = 270,
  event_hw_power_brake_ns = 271,
  // Temperature in degrees Celsius; the limits are degrees left, counted down to 0.
  memory_temperature = 82,
  shutdown_tlimit = 193,
  slowdown_tlimit = 194,
  memory_max_tlimit = 195,
  gpu_max_tlimit = 196,
  // Power in mW, energy in mJ. Scope: PowerScope.
  total_energy = 83,
  energy = 191,
  power_average = 185,
  power_instant = 186,
  power_min_limit = 187,
  power_max_limit = 188,
  power_default_limit = 189,
  power_current_limit = 190,
  power_requested_limit = 192,
  // PCIe.
  pcie_replay = 94,
  pcie_replay_rollover = 95,
  pcie_l0_to_recovery = 169,
  pcie_correctable_errors = 173,
  pcie_naks_received = 174,
  pcie_receiver_errors = 175,
  pcie_bad_tlp = 176,
  pcie_naks_sent = 177,
  pcie_bad_dllp = 178,
  pcie_non_fatal_errors = 179,
  pcie_fatal_errors = 180,
  pcie_unsupported_requests = 181,
  pcie_lcrc_errors = 182,
  pcie_lane_errors = 183,
  pcie_tx_bytes = 197,
  pcie_rx_bytes = 198,
  // NVLink: all links in one counter, to Ampere. One link of theirs: nvlink_per_link().
  nvlink_crc_flit_total = 38,
  nvlink_crc_data_total = 45,
  nvlink_replay_total = 52,
  nvlink_recovery_total = 59,
  nvlink_ecc_data_total = 160,
  nvlink_speed_common_mbps = 90,
  nvlink_count = 91,
  nvswitch_connected_links = 147,
  // NVLink throughput in KiB, one link by its number, or all with scope 0xFFFFFFFF.
  nvlink_data_tx_kib = 138,
  nvlink_data_rx_kib = 139,
  nvlink_raw_tx_kib = 140,
  nvlink_raw_rx_kib = 141,
  // NVLink, one link, Hopper on.
  nvlink_remote_link_id = 146,
  nvlink_dl_replay = 161,
  nvlink_dl_recovery = 162,
  nvlink_dl_crc = 163,
  nvlink_speed_mbps = 164,
  nvlink_state = 165,
  nvlink_version = 166,
  nvlink_power_state = 167,
  // NVLink 5 (Blackwell), one link.
  nvlink5_tx_packets = 201,
  nvlink5_tx_bytes = 202,
  nvlink5_rx_packets = 203,
  nvlink5_rx_bytes = 204,
  nvlink5_malformed_packets = 206,
  nvlink5_buffer_overruns = 207,
  nvlink5_rx_errors = 208,
  nvlink5_rx_remote_errors = 209,
  nvlink5_rx_general_errors = 210,
  nvlink5_local_integrity_errors = 211,
  nvlink5_tx_discards = 212,
  nvlink5_recovery_successful = 213,
  nvlink5_recovery_failed = 214,
  nvlink5_recovery_events = 215,
  nvlink5_effective_errors = 219,
  nvlink5_effective_ber = 220,
  nvlink5_symbol_errors = 221,
  nvlink5_symbol_ber = 222,
  nvlink5_fec_history_0 = 235,
  nvlink5_fec_history_15 = 250,
  // NVLink-C2C (Grace).
  c2c_link_count = 170,
  c2c_link_status = 171,
  c2c_link_max_mbps = 172,
  c2c_crc_errors = 231,
  c2c_replay_errors = 232,
  c2c_replay_b2b_errors = 233,
  c2c_power_state = 234,
  // What the driver asks for; MIG.
  reset_status = 226,
  drain_and_reset_status = 227,
  recovery_action = 230,
  resetless_mig_supported = 184,
  mig_query_capable = 199,  // 200 in headers 12.5 and 12.6
};

/// Counters of old that have one id a link, for links 0 to 11.
enum class NvLinkPerLink : std::uint8_t {
  crc_flit,
  crc_data,
  replay,
  recovery,
  speed_mbps,
  ecc_data
};

/// The id of one link's counter: two blocks of six each, and one of twelve for ECC (since 470).
/// The link must be below 12.
[[nodiscard]] constexpr std::uint32_t nvlink_per_link(NvLinkPerLink counter, unsigned link) {
  struct Blocks {
    std::uint32_t first;
    std::uint32_t second;
  };
  constexpr Blocks blocks[] = {{32, 96}, {39, 102}, {46, 108}, {53, 114}, {84, 132}, {148, 154}};
  const Blocks& block = blocks[static_cast<std::size_t>(counter)];
  return link < 6 ? block.first + link : block.second + (link - 6);
}
static_assert(nvlink_per_link(NvLinkPerLink::crc_flit, 11) == 101);
static_assert(nvlink_per_link(NvLinkPerLink::recovery, 0) == 53);
static_assert(nvlink_per_link(NvLinkPerLink::speed_mbps, 6) == 132);
static_assert(nvlink_per_link(NvLinkPerLink::ecc_data, 11) == 159);

}  // namespace stoker::nvml::abi
