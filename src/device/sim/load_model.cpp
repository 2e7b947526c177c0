#include "device/sim/load_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace stoker::sim {
namespace {

// Measured on two H200 (580.159.04), means of the last ten seconds of a trace at 5 Hz: the table of
// load traces, whose copy stands in load_model_test.cpp. Memory is what the process held beyond the
// free card's 615 MiB; PCIe and NVLink are shares of what the link carries (55.3 GB/s measured host
// to device; 450 GB/s for NV18 one way by the data sheet).
struct Shape {
  LoadKind kind;
  std::string_view name;
  double power_share;  // of the range from held to full; above 1: the power limit holds it back
  double power_swing;  // share of the power, up and down
  double gpu_percent;
  double gpu_swing;
  double memory_percent;
  double graphics, sm, occupancy, integer, tensor, dram, fp32, fp16;
  double pcie_tx_share, pcie_rx_share, nvlink_tx_share, nvlink_rx_share;
  std::uint64_t memory_mib;
};
constexpr double pcie = 1048576.0 / 55.3e9;  // share of one MiB/s
constexpr double nvlink = 1048576.0 / 450e9;
constexpr auto shapes = std::to_array<Shape>({
    // kind, name, power share and swing, util and swing, mem, gr, SM, occ, int, tensor, dram, fp32..
    {LoadKind::idle, "idle",      0, 0.002, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
     0.65 * pcie,    0.37 * pcie, 0, 0,     0},
    {LoadKind::training,
     "training",
     1.296,
     0.006,
     98.8,
     0.4,
     30,
     98.8,
     87,
     24.2,
     11,
     69,
     22,
     0.9,
     0.01,
     5.5 * pcie,
     18.1 * pcie,
     24683 * nvlink,
     24683 * nvlink,
     2198},
    {LoadKind::decode, "decode",   0.564, 0.05, 90,  6, 73, 90, 58, 7.7, 1.7, 2.1, 57, 0, 0,  //
     24 * pcie,        213 * pcie, 0,     0,    5838},
    {LoadKind::hung_waiting,
     "hung_waiting",
     0.0008,
     0.0005,
     100,
     0,
     0,
     100,
     18.2,
     4.83,
     0.16,
     0,
     0,
     0,
     0,
     0.77 * pcie,
     0.78 * pcie,
     0,
     0,
     1714},
    {LoadKind::hung_missing,
     "hung_missing",
     0.0002,
     0.0005,
     0,
     0,
     0,
     0.01,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0.59 * pcie,
     0.32 * pcie,
     0,
     0,
     1714},
    {LoadKind::starved,
     "starved",
     0.0195,
     0.006,
     2,
     2,
     0.5,
     1.7,
     1.5,
     0.43,
     0.2,
     1.2,
     0.4,
     0.02,
     0,
     0.7 * pcie,
     0.67 * pcie,
     0,
     0,
     1102},
    {LoadKind::alu, "alu", 0.538, 0.005, 100, 0,          0,           100, 99.8, 63.8,
     5.56,          5.56,  0,     89,    0,   0.6 * pcie, 0.32 * pcie, 0,   0,    528},
    {LoadKind::pipeline_wait,
     "pipeline_wait",
     0.002,
     0.006,
     100,
     0,
     0,
     100,
     12.1,
     3.6,
     0.08,
     0,
     0,
     0,
     0,
     0.71 * pcie,
     0.63 * pcie,
     0,
     13.1 * nvlink,
     1744},
});

const Shape& shape_of(LoadKind kind) {
  const auto* found = std::ranges::find(shapes, kind, &Shape::kind);
  return found == shapes.end() ? shapes.front() : *found;
}

// Training is held at this share of its limit, at this swing; its clock falls with the cube root of
// the power that it may have against the power that it asks for (694 W and 1840 MHz of 1980 at a
// limit of 700 W; 1.296 asks for 871 W).
constexpr double capped_share = 0.991;
constexpr double capped_swing = 0.005;
// Assumed, not measured: what slowdowns leave of clock and of the power above held.
constexpr double hardware_slowdown = 0.5;
constexpr double software_slowdown = 0.75;

// Bits of nvmlDeviceGetCurrentClocksEventReasons.
constexpr std::uint64_t reason_idle = 0x1;
constexpr std::uint64_t reason_application_clocks = 0x2;
constexpr std::uint64_t reason_software_power = 0x4;
constexpr std::uint64_t reason_hardware = 0x8;
constexpr std::uint64_t reason_software_thermal = 0x20;
constexpr std::uint64_t reason_hardware_thermal = 0x40;

constexpr unsigned threshold_slowdown = 1;
constexpr unsigned threshold_gpu_max = 3;

// A wave between -1 and 1, and its integral: two sines whose phases come from the seed.
struct Wave {
  explicit Wave(std::uint64_t seed) {
    std::uint64_t bits = seed + 0x9E3779B97F4A7C15;  // splitmix64's step and mix
    for (double& phase : phases) {
      bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9;
      bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EB;
      bits ^= bits >> 31U;
      phase = static_cast<double>(bits >> 11U) * 0x1p-53 * 2 * std::numbers::pi;
    }
  }
  [[nodiscard]] double at(double seconds) const {
    double sum = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      sum += weights[i] * std::sin(rates[i] * seconds + phases[i]);
    }
    return sum;
  }
  [[nodiscard]] double integral(double from, double to) const {
    double sum = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      sum += weights[i] / rates[i] *
             (std::cos(rates[i] * from + phases[i]) - std::cos(rates[i] * to + phases[i]));
    }
    return sum;
  }
  static constexpr std::array<double, 2> weights{0.7, 0.3};
  static constexpr std::array<double, 2> rates{2 * std::numbers::pi / 7.3,
                                               2 * std::numbers::pi / 1.9};
  std::array<double, 2> phases{};
};

// What holds for as long as neither load nor limits change.
struct Regime {
  double mean_mw = 0;
  double swing_mw = 0;
  double settled_c = 0;  // where the temperature goes to, disturbance apart
  double clock_share = 1;
  std::uint64_t reasons = 0;
};

double settled_temperature(const Envelope& envelope, double power_mw) {
  const double range = static_cast<double>(envelope.full_power_mw) - envelope.idle_power_mw;
  if (range <= 0) return envelope.idle_temperature_c;
  return envelope.idle_temperature_c + (envelope.full_temperature_c - envelope.idle_temperature_c) *
                                           (power_mw - envelope.idle_power_mw) / range;
}

bool reached(const Gpu& gpu, unsigned threshold, double celsius) {
  const std::int32_t limit = gpu.thermal.threshold_c[threshold];
  return limit > 0 && celsius >= limit;  // threshold_not_supported is far below 0
}

void slow(Regime& regime, double held_mw, double share, std::uint64_t reasons) {
  regime.clock_share *= share;
  regime.mean_mw = std::min(regime.mean_mw, held_mw + (regime.mean_mw - held_mw) * share);
  regime.reasons |= reasons;
}

double clock_ceiling(const Gpu& gpu) {
  double ceiling = gpu.clocks.max_mhz[1];
  if (gpu.clocks.application_mhz[0] != 0) {
    ceiling = std::min<double>(ceiling, gpu.clocks.application_mhz[0]);
  }
  if (gpu.clocks.locked_max_mhz != 0) {
    ceiling = std::min<double>(ceiling, gpu.clocks.locked_max_mhz);
  }
  if (gpu.disturbance.sm_clock_limit_mhz != 0) {
    ceiling = std::min<double>(ceiling, gpu.disturbance.sm_clock_limit_mhz);
  }
  return ceiling;
}

Regime regime_of(const Gpu& gpu) {
  const Shape& shape = shape_of(gpu.load.kind);
  const Envelope& envelope = gpu.envelope;
  Regime regime;
  regime.reasons = gpu.disturbance.clocks_event_reasons;
  if (shape.kind == LoadKind::idle) {
    regime.mean_mw = envelope.idle_power_mw;
    regime.reasons |= reason_idle;
  } else {
    const double held = envelope.held_power_mw;
    const double range = std::max(0.0, static_cast<double>(envelope.full_power_mw) - held);
    const double limit = gpu.power.enforced_mw;
    regime.mean_mw = held + range * shape.power_share;
    const double top = gpu.clocks.max_mhz[1];
    if (const double ceiling = clock_ceiling(gpu); top > 0 && ceiling < top) {
      slow(regime, held, ceiling / top, reason_application_clocks);
    }
    if (limit > 0 && regime.mean_mw * (1 + shape.power_swing) > limit) {
      regime.clock_share *= std::cbrt(limit / regime.mean_mw);
      regime.mean_mw = capped_share * limit;
      regime.swing_mw = capped_swing * limit;
      regime.reasons |= reason_software_power;
    }
  }
  if ((regime.reasons & reason_software_power) == 0) {
    regime.swing_mw = regime.mean_mw * shape.power_swing;
  }
  regime.settled_c = settled_temperature(envelope, regime.mean_mw);
  const double hot = regime.settled_c + gpu.disturbance.temperature_mc / 1000.0;
  if (reached(gpu, threshold_slowdown, hot)) {
    slow(regime, envelope.held_power_mw, hardware_slowdown,
         reason_hardware | reason_hardware_thermal);
  } else if (reached(gpu, threshold_gpu_max, hot)) {
    slow(regime, envelope.held_power_mw, software_slowdown, reason_software_thermal);
  }
  regime.mean_mw += gpu.disturbance.power_mw;
  return regime;
}

double seconds_since_start(const Load& load, std::uint64_t now_ns) {
  return now_ns <= load.start_ns ? 0 : static_cast<double>(now_ns - load.start_ns) / 1e9;
}

void add_rates(Activity& now, const Shape& shape, const Envelope& envelope, double share) {
  const double pcie_peak = static_cast<double>(envelope.pcie_bytes_per_second) * share;
  const double nvlink_peak = static_cast<double>(envelope.nvlink_bytes_per_second) * share;
  now.pcie_tx_bytes_per_second = shape.pcie_tx_share * pcie_peak;
  now.pcie_rx_bytes_per_second = shape.pcie_rx_share * pcie_peak;
  now.nvlink_tx_bytes_per_second = shape.nvlink_tx_share * nvlink_peak;
  now.nvlink_rx_bytes_per_second = shape.nvlink_rx_share * nvlink_peak;
}

void add_shares(Activity& now, const Shape& shape, double wave) {
  now.gpu_percent = std::clamp(shape.gpu_percent + shape.gpu_swing * wave, 0.0, 100.0);
  const double relative = shape.gpu_percent > 0 ? now.gpu_percent / shape.gpu_percent : 1;
  now.memory_percent = shape.memory_percent * relative;
  now.graphics = std::min(100.0, shape.graphics * relative);
  now.sm = shape.sm * relative;
  now.occupancy = shape.occupancy * relative;
  now.integer = shape.integer * relative;
  now.tensor = shape.tensor * relative;
  now.hmma = now.tensor;
  now.dram = shape.dram * relative;
  now.fp32 = shape.fp32 * relative;
  now.fp16 = shape.fp16 * relative;
  now.load_memory_bytes = shape.memory_mib << 20U;
}

void add_clocks(Activity& now, const Gpu& gpu, const Regime& regime) {
  const bool idle = gpu.load.kind == LoadKind::idle;
  for (std::size_t i = 0; i < 4; ++i) {
    now.clock_mhz[i] = idle ? gpu.clocks.idle_mhz[i] : gpu.clocks.busy_mhz[i];
  }
  if (!idle) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      now.clock_mhz[i] *= regime.clock_share;
    }
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    now.clock_mhz[i] = std::max<double>(now.clock_mhz[i], gpu.clocks.locked_min_mhz);
  }
  now.pstate = idle ? gpu.clocks.idle_pstate : 0;
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::max(0.0, value)); }

}  // namespace

Activity activity(const Gpu& gpu, std::uint64_t now_ns) {
  const Shape& shape = shape_of(gpu.load.kind);
  const Regime regime = regime_of(gpu);
  const double wave = Wave(gpu.load.seed).at(static_cast<double>(now_ns) / 1e9);
  Activity now;
  add_shares(now, shape, wave);
  add_rates(now, shape, gpu.envelope, 1);
  add_clocks(now, gpu, regime);
  now.clocks_event_reasons = regime.reasons;
  now.power_mw = regime.mean_mw + regime.swing_mw * wave;
  const double since = seconds_since_start(gpu.load, now_ns) * 1000;
  const double lag = gpu.envelope.thermal_time_ms == 0
                         ? 0
                         : std::exp(-since / static_cast<double>(gpu.envelope.thermal_time_ms));
  const double start = gpu.load.start_temperature_mc / 1000.0;
  const double own = regime.settled_c + (start - regime.settled_c) * lag;
  now.temperature_c = own + gpu.disturbance.temperature_mc / 1000.0;
  now.memory_temperature_c = own + gpu.envelope.memory_temperature_above_c +
                             gpu.disturbance.memory_temperature_mc / 1000.0;
  return now;
}

Activity activity(const Gpu& gpu, const GpuInstance& instance, std::uint64_t now_ns) {
  Activity now = activity(gpu, now_ns);
  const Load& load = instance.load.kind == LoadKind::inherit ? gpu.load : instance.load;
  const Shape& shape = shape_of(load.kind);
  const double slices = std::max(1U, gpu.mig.max_devices);
  const double share = gpu.mig.profiles[instance.profile].slices / slices;
  add_shares(now, shape, Wave(load.seed).at(static_cast<double>(now_ns) / 1e9));
  add_rates(now, shape, gpu.envelope, share);
  return now;
}

Totals totals(const Gpu& gpu, std::uint64_t now_ns) {
  const Load& load = gpu.load;
  const Regime regime = regime_of(gpu);
  const double elapsed = seconds_since_start(load, now_ns);
  const double from = static_cast<double>(load.start_ns) / 1e9;
  const double mj =
      regime.mean_mw * elapsed + regime.swing_mw * Wave(load.seed).integral(from, from + elapsed);
  Activity rates;
  add_rates(rates, shape_of(load.kind), gpu.envelope, 1);
  Totals sum;
  sum.energy_uj = load.start_energy_uj + whole(mj * 1000);
  sum.pcie_tx_bytes = load.start_pcie_tx_bytes + whole(rates.pcie_tx_bytes_per_second * elapsed);
  sum.pcie_rx_bytes = load.start_pcie_rx_bytes + whole(rates.pcie_rx_bytes_per_second * elapsed);
  sum.nvlink_tx_bytes =
      load.start_nvlink_tx_bytes + whole(rates.nvlink_tx_bytes_per_second * elapsed);
  sum.nvlink_rx_bytes =
      load.start_nvlink_rx_bytes + whole(rates.nvlink_rx_bytes_per_second * elapsed);
  const std::uint64_t held_back = whole(elapsed * 1e9);
  sum.power_violation_ns =
      gpu.power.violation_ns[0] + ((regime.reasons & reason_software_power) != 0 ? held_back : 0);
  sum.thermal_violation_ns =
      gpu.power.violation_ns[1] +
      ((regime.reasons & (reason_software_thermal | reason_hardware_thermal)) != 0 ? held_back : 0);
  return sum;
}

void settle(Gpu& gpu, std::uint64_t now_ns) {
  gpu.load = Load{};
  gpu.load.start_ns = now_ns;
  gpu.load.start_temperature_mc = gpu.envelope.idle_temperature_c * 1000;
}

void rebase(Gpu& gpu, std::uint64_t now_ns) {
  const Totals sum = totals(gpu, now_ns);
  const double own = activity(gpu, now_ns).temperature_c - gpu.disturbance.temperature_mc / 1000.0;
  gpu.power.violation_ns[0] = sum.power_violation_ns;
  gpu.power.violation_ns[1] = sum.thermal_violation_ns;
  gpu.load.start_temperature_mc = static_cast<std::int32_t>(std::lround(own * 1000));
  gpu.load.start_ns = now_ns;
  gpu.load.start_energy_uj = sum.energy_uj;
  gpu.load.start_pcie_tx_bytes = sum.pcie_tx_bytes;
  gpu.load.start_pcie_rx_bytes = sum.pcie_rx_bytes;
  gpu.load.start_nvlink_tx_bytes = sum.nvlink_tx_bytes;
  gpu.load.start_nvlink_rx_bytes = sum.nvlink_rx_bytes;
}

void start_load(Gpu& gpu, LoadKind kind, std::uint64_t seed, std::uint64_t now_ns) {
  rebase(gpu, now_ns);
  gpu.load.kind = kind;
  gpu.load.seed = seed;
}

std::string_view to_string(LoadKind kind) {
  return kind == LoadKind::inherit ? "inherit" : shape_of(kind).name;
}

std::optional<LoadKind> load_kind(std::string_view name) {
  const auto* found = std::ranges::find(shapes, name, &Shape::name);
  if (found == shapes.end()) return std::nullopt;
  return found->kind;
}

}  // namespace stoker::sim
