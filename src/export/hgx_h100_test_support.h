// A snapshot of eight H100s with fixed values, for the golden file and the bench. The values are a
// card's under training as in the captures, moved a little from GPU to GPU; nothing is measured here.
#pragma once

#include <array>
#include <utility>
#include <variant>

#include "store/snapshot.h"

namespace stoker::exporting {

inline constexpr MonotonicTime golden_time{Seconds(1000)};

struct GoldenValue {
  FieldId field;
  Value value;        // of GPU 0
  std::int64_t step;  // added for each GPU after it
};

inline constexpr auto golden_values = std::to_array<GoldenValue>({
    {FieldId::sm_clock, std::int64_t{1980}, -15},
    {FieldId::memory_clock, std::int64_t{2619}, 0},
    {FieldId::video_clock, std::int64_t{1545}, 0},
    {FieldId::throttle_reasons, std::int64_t{4}, 0},
    {FieldId::memory_temperature, std::int64_t{46}, 1},
    {FieldId::temperature, std::int64_t{39}, 1},
    {FieldId::thermal_margin, std::int64_t{48}, -1},
    {FieldId::power, 693.981, 1},
    {FieldId::power_limit, 700.0, 0},
    {FieldId::energy, 123456.789, 1000},
    {FieldId::performance_state, std::int64_t{0}, 0},
    {FieldId::power_violation, std::int64_t{5'000'000'000}, 0},
    {FieldId::utilization, std::int64_t{99}, 0},
    {FieldId::memory_utilization, std::int64_t{30}, 0},
    {FieldId::encoder_utilization, std::int64_t{0}, 0},
    {FieldId::decoder_utilization, std::int64_t{0}, 0},
    {FieldId::graphics_active, 99.5, 0},
    {FieldId::sm_active, 87.25, 0},
    {FieldId::sm_occupancy, 21.0, 0},
    {FieldId::tensor_active, 69.123456789, 0},
    {FieldId::dram_active, 22.5, 0},
    {FieldId::fp64_active, 0.0, 0},
    {FieldId::fp32_active, 1.0, 0},
    {FieldId::fp16_active, 0.0, 0},
    {FieldId::pcie_tx, 1048576.5, 0},
    {FieldId::pcie_rx, 2097152.0, 0},
    {FieldId::nvlink_tx, 35e9, 0},
    {FieldId::nvlink_rx, 35e9, 0},
    {FieldId::memory_total, std::int64_t{85520809984}, 0},
    {FieldId::memory_free, std::int64_t{22340829184}, 0},
    {FieldId::memory_used, std::int64_t{62676533248}, 0},
    {FieldId::memory_reserved, std::int64_t{503447552}, 0},
    {FieldId::bar1_used, std::int64_t{1703936}, 0},
    {FieldId::last_xid, std::int64_t{0}, 0},
    {FieldId::ecc_corrected_volatile, std::int64_t{0}, 0},
    {FieldId::ecc_uncorrected_volatile, std::int64_t{0}, 0},
    {FieldId::ecc_corrected_aggregate, std::int64_t{2}, 0},
    {FieldId::ecc_uncorrected_aggregate, std::int64_t{0}, 0},
    {FieldId::remapped_rows_uncorrectable, std::int64_t{0}, 0},
    {FieldId::remapped_rows_correctable, std::int64_t{1}, 0},
    {FieldId::row_remap_failure, std::int64_t{0}, 0},
    {FieldId::row_remap_pending, std::int64_t{0}, 0},
    {FieldId::recovery_action, std::int64_t{0}, 0},
    {FieldId::pcie_replays, std::int64_t{0}, 0},
    {FieldId::pcie_generation, std::int64_t{5}, 0},
    {FieldId::pcie_width, std::int64_t{16}, 0},
    {FieldId::nvlink_data_tx, std::int64_t{1'099'511'627'776}, 0},
    {FieldId::nvlink_data_rx, std::int64_t{1'099'511'627'776}, 0},
    {FieldId::nvlink_bandwidth_total, std::int64_t{2'147'483'648}, 1},
    {FieldId::nvlink_links_up, std::int64_t{18}, 0},
    {FieldId::fabric_state, std::int64_t{3}, 0},
    {FieldId::persistence_mode, std::int64_t{1}, 0},
    {FieldId::inforom_valid, std::int64_t{1}, 0},
    {FieldId::compute_mode, std::int64_t{0}, 0},
    {FieldId::ecc_mode, std::int64_t{1}, 0},
    {FieldId::mig_mode, std::int64_t{0}, 0},
    {FieldId::vgpu_license, std::int64_t{0}, 0},
});

inline Value moved(const Value& value, std::int64_t by) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole + by;
  return std::get<double>(value) + static_cast<double>(by);
}

inline store::GpuSnapshot golden_gpu(std::uint32_t n) {
  constexpr std::array<std::uint8_t, 8> buses = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};
  store::GpuSnapshot gpu;
  gpu.info.index = n;
  gpu.info.pci = {.domain = 0, .bus = buses.at(n), .device = 0, .function = 0};
  gpu.info.uuid = "GPU-0000000" + std::to_string(n) + "-0000-4000-8000-000000000000";
  gpu.info.name = "NVIDIA H100 80GB HBM3";
  gpu.info.serial = "165000000000" + std::to_string(n);
  gpu.info.board_part = "692-2G520-0200-000";
  gpu.info.vbios = "96.00.74.00.01";
  gpu.info.inforom = "G520.0200.00.05";
  gpu.info.architecture = "hopper";
  gpu.info.numa_node = n < 4 ? 0 : 1;
  gpu.state_since = golden_time;
  gpu.last_answer = golden_time;
  for (const GoldenValue& row : golden_values) {
    const Value value = moved(row.value, row.step * n);
    gpu.readings.set(row.field, {value, Reason::ok, golden_time, Nanoseconds(2000)});
  }
  gpu.readings.set(FieldId::fan_speed, Reading::none(Reason::not_supported, golden_time));
  for (std::uint32_t link = 0; link < 18; ++link) {
    gpu.nvlinks[link].set(FieldId::nvlink_state, Reading::of(std::int64_t{1}, golden_time));
    gpu.nvlinks[link].set(FieldId::nvlink_replay_errors, Reading::of(std::int64_t{0}, golden_time));
  }
  gpu.costs = {{.getter = Getter::power_usage,
                .calls = 100,
                .total = Nanoseconds(250'000),
                .longest = Nanoseconds(9'000),
                .last = Nanoseconds(2'500)}};
  return gpu;
}

inline store::Snapshot hgx_h100_snapshot() {
  store::Snapshot snapshot;
  snapshot.taken_at = golden_time + Milliseconds(250);
  snapshot.wall = {Seconds(1'700'000'000)};
  snapshot.hostname = "node1";
  snapshot.source.state = device::SourceState::running;
  snapshot.source.since = golden_time;
  snapshot.driver = device::DriverInfo{.driver_version = "580.159.04",
                                       .nvml_version = "13.580.159.04",
                                       .cuda_version = 13000,
                                       .simulated = false,
                                       .abi_notes = {}};
  for (std::uint32_t n = 0; n < 8; ++n) snapshot.gpus.push_back(golden_gpu(n));
  snapshot.node.set(FieldId::cpu_busy, Reading::of(12.5, golden_time));
  snapshot.node.set(FieldId::memory_total_host,
                    Reading::of(std::int64_t{2'164'663'517'184}, golden_time));
  snapshot.node.set(FieldId::memory_available,
                    Reading::of(std::int64_t{2'100'000'000'000}, golden_time));
  snapshot.node.set(FieldId::cache_disk_free, Reading::none(Reason::not_supported, golden_time));
  return snapshot;
}

}  // namespace stoker::exporting
