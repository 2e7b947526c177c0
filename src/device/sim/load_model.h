// Simulated driver: what a load makes of a GPU in time. Pure: the same GPU, load, seed and moment
// give the same numbers in every process, so nothing has to be stepped or stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/sim/state_gpu.h"

namespace stoker::sim {

/// One moment. Shares are percent of the time or of the peak, as NVML and GPM tell them.
struct Activity {
  double gpu_percent = 0;  // nvmlDeviceGetUtilizationRates
  double memory_percent = 0;
  double graphics = 0;  // GPM from here
  double sm = 0;
  double occupancy = 0;
  double integer = 0;
  double tensor = 0;
  double hmma = 0;
  double dram = 0;
  double fp32 = 0;
  double fp16 = 0;
  double pcie_tx_bytes_per_second = 0;
  double pcie_rx_bytes_per_second = 0;
  double nvlink_tx_bytes_per_second = 0;
  double nvlink_rx_bytes_per_second = 0;
  double power_mw = 0;
  double temperature_c = 0;
  double memory_temperature_c = 0;
  double clock_mhz[4] = {};  // graphics, SM, memory, video
  std::uint32_t pstate = 0;
  std::uint64_t clocks_event_reasons = 0;
  std::uint64_t load_memory_bytes = 0;  // what the load's process would hold
};
[[nodiscard]] Activity activity(const Gpu& gpu, std::uint64_t now_ns);

/// A GPU instance's own activity: percent of the instance, rates as its share of the GPU's. Power,
/// temperature and clocks stay those of the GPU.
[[nodiscard]] Activity activity(const Gpu& gpu, const GpuInstance& instance, std::uint64_t now_ns);

/// What has added up since the driver was loaded. Energy is the exact integral of Activity::power_mw.
struct Totals {
  std::uint64_t energy_uj = 0;
  std::uint64_t pcie_tx_bytes = 0;
  std::uint64_t pcie_rx_bytes = 0;
  std::uint64_t nvlink_tx_bytes = 0;
  std::uint64_t nvlink_rx_bytes = 0;
  std::uint64_t power_violation_ns = 0;
  std::uint64_t thermal_violation_ns = 0;
};
[[nodiscard]] Totals totals(const Gpu& gpu, std::uint64_t now_ns);

/// Puts a GPU at rest at its idle temperature with empty totals: how a new one starts.
void settle(Gpu& gpu, std::uint64_t now_ns);

/// Changes the load from now on; temperature and totals go on from where they are.
void start_load(Gpu& gpu, LoadKind kind, std::uint64_t seed, std::uint64_t now_ns);

/// To be called before anything else that the model depends on is changed (limits, disturbance):
/// makes what has been until now part of the totals.
void rebase(Gpu& gpu, std::uint64_t now_ns);

/// "idle", "training", "hung_waiting", ...
[[nodiscard]] std::string_view to_string(LoadKind kind);
[[nodiscard]] std::optional<LoadKind> load_kind(std::string_view name);

}  // namespace stoker::sim
