#include "device/sim/library/field_live.h"

#include <algorithm>
#include <cmath>

#include "device/nvml/field_ids.h"

namespace stoker::sim {
namespace {

using Id = FieldId;
constexpr std::uint32_t all_links = 0xFFFFFFFF;

LiveValue value(std::uint64_t bits) { return {Return::success, bits}; }

// Power fields of the GPU scope; other scopes were not supported on the cards that we captured.
std::optional<LiveValue> power_field(const View& view, Id id, std::uint32_t scope) {
  switch (id) {
    case Id::power_average:
    case Id::power_instant:
    case Id::energy: break;
    case Id::total_energy: return value(view.totals().energy_uj / 1000);
    case Id::violation_power: return value(view.totals().power_violation_ns);
    case Id::violation_thermal: return value(view.totals().thermal_violation_ns);
    default: return std::nullopt;
  }
  if (scope != static_cast<std::uint32_t>(PowerScope::gpu)) {
    return LiveValue{Return::not_supported, 0};
  }
  if (id == Id::energy) return value(view.totals().energy_uj / 1000);
  return value(static_cast<std::uint64_t>(std::lround(view.activity().power_mw)));
}

std::optional<LiveValue> memory_field(const View& view, Id id) {
  const EccFacts& ecc = view.gpu.ecc;
  switch (id) {
    case Id::ecc_mode_current: return value(ecc.mode);
    case Id::ecc_mode_pending: return value(ecc.pending_mode);
    case Id::ecc_corrected_volatile: return value(ecc.total[0][0]);
    case Id::ecc_uncorrected_volatile: return value(ecc.total[1][0]);
    case Id::ecc_corrected_aggregate: return value(ecc.total[0][1]);
    case Id::ecc_uncorrected_aggregate: return value(ecc.total[1][1]);
    case Id::retired_single_bit: return value(ecc.retired_count[0]);
    case Id::retired_double_bit: return value(ecc.retired_count[1]);
    case Id::retired_pending: return value(ecc.retired_pending);
    case Id::remapped_corrected: return value(ecc.remapped_correctable);
    case Id::remapped_uncorrected: return value(ecc.remapped_uncorrectable);
    case Id::remapped_pending: return value(ecc.remap_pending);
    case Id::remapped_failure: return value(ecc.remap_failed);
    case Id::memory_temperature:
      return value(static_cast<std::uint64_t>(
          std::max(0L, std::lround(view.activity().memory_temperature_c))));
    default: return std::nullopt;
  }
}

std::uint64_t active_links(const Gpu& gpu) {
  std::uint64_t count = 0;
  for (std::uint32_t link = 0; link < gpu.link_count; ++link) count += gpu.links[link].active;
  return count;
}

// Traffic is spread evenly over the links that are up.
LiveValue link_kib(const View& view, std::uint64_t bytes, std::uint32_t scope) {
  if (scope == all_links) return value(bytes / 1024);
  if (scope >= view.gpu.link_count) return {Return::invalid_argument, 0};
  if (view.gpu.links[scope].active == 0) return value(0);
  return value(bytes / 1024 / active_links(view.gpu));
}

std::optional<LiveValue> link_field(const View& view, Id id, std::uint32_t scope) {
  switch (id) {
    case Id::nvlink_data_tx_kib:
    case Id::nvlink_raw_tx_kib: return link_kib(view, view.totals().nvlink_tx_bytes, scope);
    case Id::nvlink_data_rx_kib:
    case Id::nvlink_raw_rx_kib: return link_kib(view, view.totals().nvlink_rx_bytes, scope);
    case Id::nvlink_count: return value(view.gpu.link_count);
    case Id::nvlink_dl_replay:
    case Id::nvlink_dl_recovery:
    case Id::nvlink_dl_crc:
    case Id::nvlink_speed_mbps:
    case Id::nvlink_state:
    case Id::nvlink_version: break;
    default: return std::nullopt;
  }
  if (scope >= view.gpu.link_count) return LiveValue{Return::invalid_argument, 0};
  const LinkFacts& link = view.gpu.links[scope];
  switch (id) {
    case Id::nvlink_dl_replay: return value(link.errors[0]);
    case Id::nvlink_dl_recovery: return value(link.errors[1]);
    case Id::nvlink_dl_crc: return value(link.errors[2]);
    case Id::nvlink_speed_mbps: return value(link.speed_mbps);
    case Id::nvlink_state: return value(link.active);
    default: return value(link.version);
  }
}

// Counters of old have one id for each link, and one for their sum.
std::optional<LiveValue> old_link_field(const View& view, std::uint32_t id) {
  struct Counter {
    NvLinkPerLink kind;
    Id total;
    std::size_t index;  // of LinkFacts::errors
  };
  constexpr Counter counters[] = {
      {NvLinkPerLink::replay, Id::nvlink_replay_total, 0},
      {NvLinkPerLink::recovery, Id::nvlink_recovery_total, 1},
      {NvLinkPerLink::crc_flit, Id::nvlink_crc_flit_total, 2},
      {NvLinkPerLink::crc_data, Id::nvlink_crc_data_total, 3},
      {NvLinkPerLink::ecc_data, Id::nvlink_ecc_data_total, 4},
  };
  constexpr unsigned links_with_ids = 12;
  for (const Counter& counter : counters) {
    std::uint64_t sum = 0;
    for (unsigned link = 0; link < std::min(view.gpu.link_count, links_with_ids); ++link) {
      const std::uint64_t errors = view.gpu.links[link].errors[counter.index];
      if (nvlink_per_link(counter.kind, link) == id) return value(errors);
      sum += errors;
    }
    if (static_cast<std::uint32_t>(counter.total) == id) return value(sum);
  }
  return std::nullopt;
}

std::optional<LiveValue> pcie_field(const View& view, Id id) {
  switch (id) {
    case Id::pcie_replay: return value(view.gpu.pci.replays);
    case Id::pcie_tx_bytes:
      return value(view.totals().pcie_tx_bytes & 0xFFFFFFFFU);  // 32 bits wide
    case Id::pcie_rx_bytes: return value(view.totals().pcie_rx_bytes & 0xFFFFFFFFU);
    case Id::recovery_action: return value(view.gpu.modes.recovery_action);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<LiveValue> live_value(const View& view, std::uint32_t field_id,
                                    std::uint32_t scope_id) {
  const auto id = static_cast<Id>(field_id);
  if (const auto found = power_field(view, id, scope_id)) return found;
  if (const auto found = memory_field(view, id)) return found;
  if (const auto found = link_field(view, id, scope_id)) return found;
  if (const auto found = pcie_field(view, id)) return found;
  return old_link_field(view, field_id);
}

}  // namespace stoker::sim
