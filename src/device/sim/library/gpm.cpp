// Simulated library: GPU performance monitoring. A sample keeps what the load model said when it was
// taken; the metrics of two samples are the mean of both, so a load that began between them shows half.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>

#include "base/thread_safety.h"
#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

struct Taken {
  bool filled = false;
  Place place;
  std::uint64_t wall_us = 0;
  std::uint32_t link_count = 0;
  Activity activity;
};

// Samples that callers hold. Never destroyed, as callers may free theirs at the very end.
class Samples {
 public:
  GpmSample add() {
    const MutexLock lock(mutex_);
    auto* taken = new Taken;
    held_.insert(taken);
    return reinterpret_cast<GpmSample>(taken);
  }
  bool remove(GpmSample sample) {
    const MutexLock lock(mutex_);
    auto* taken = reinterpret_cast<Taken*>(sample);
    if (held_.erase(taken) == 0) return false;
    delete taken;
    return true;
  }
  bool put(GpmSample sample, const Taken& taken) {
    const MutexLock lock(mutex_);
    auto* target = reinterpret_cast<Taken*>(sample);
    if (!held_.contains(target)) return false;
    *target = taken;
    return true;
  }
  std::optional<Taken> get(GpmSample sample) {
    const MutexLock lock(mutex_);
    auto* target = reinterpret_cast<Taken*>(sample);
    if (!held_.contains(target)) return std::nullopt;
    return *target;
  }

 private:
  Mutex mutex_;
  std::set<Taken*> held_ GUARDED_BY(mutex_);
};

Samples& samples() {
  static auto* const all = new Samples;
  return *all;
}

struct Metric {
  GpmMetricId id;
  double Activity::* value;
  double scale;
  const char* short_name;
  const char* long_name;
  const char* unit;
};
constexpr double mib = 1.0 / 1048576;
// Short names as 580.159.04 gave them.
constexpr Metric metrics[] = {
    {GpmMetricId::graphics_util, &Activity::graphics, 1, "GRAPHICS_UTIL", "Graphics engine", "%"},
    {GpmMetricId::sm_util, &Activity::sm, 1, "SM_UTIL", "SM", "%"},
    {GpmMetricId::sm_occupancy, &Activity::occupancy, 1, "SM_OCCUPANCY", "SM occupancy", "%"},
    {GpmMetricId::integer_util, &Activity::integer, 1, "INTEGER_UTIL", "Integer pipe", "%"},
    {GpmMetricId::any_tensor_util, &Activity::tensor, 1, "ANY_TENSOR_UTIL", "Tensor pipe", "%"},
    {GpmMetricId::dfma_tensor_util, nullptr, 1, "DFMA_TENSOR_UTIL", "fp64 tensor pipe", "%"},
    {GpmMetricId::hmma_tensor_util, &Activity::hmma, 1, "HMMA_TENSOR_UTIL", "fp16 tensor pipe",
     "%"},
    {GpmMetricId::imma_tensor_util, nullptr, 1, "IMMA_TENSOR_UTIL", "Integer tensor pipe", "%"},
    {GpmMetricId::dram_bandwidth_util, &Activity::dram, 1, "DRAM_BW_UTIL", "Memory bandwidth", "%"},
    {GpmMetricId::fp64_util, nullptr, 1, "FP64_UTIL", "fp64 pipe", "%"},
    {GpmMetricId::fp32_util, &Activity::fp32, 1, "FP32_UTIL", "fp32 pipe", "%"},
    {GpmMetricId::fp16_util, &Activity::fp16, 1, "FP16_UTIL", "fp16 pipe", "%"},
    {GpmMetricId::pcie_tx_per_sec, &Activity::pcie_tx_bytes_per_second, mib, "PCIE_TX_PER_SEC",
     "PCIe out", "MiB/s"},
    {GpmMetricId::pcie_rx_per_sec, &Activity::pcie_rx_bytes_per_second, mib, "PCIE_RX_PER_SEC",
     "PCIe in", "MiB/s"},
    {GpmMetricId::nvlink_total_rx_per_sec, &Activity::nvlink_rx_bytes_per_second, mib,
     "NVLINK_TOTAL_RX_PER_SEC", "NVLink in, all links", "MiB/s"},
    {GpmMetricId::nvlink_total_tx_per_sec, &Activity::nvlink_tx_bytes_per_second, mib,
     "NVLINK_TOTAL_TX_PER_SEC", "NVLink out, all links", "MiB/s"},
};

constexpr std::uint32_t first_link = static_cast<std::uint32_t>(GpmMetricId::nvlink_0_rx_per_sec);
constexpr std::uint32_t links_with_metrics = 18;

double mean(const Taken& one, const Taken& other, double Activity::* value) {
  return value == nullptr ? 0 : (one.activity.*value + other.activity.*value) / 2;
}

// As 580.159.04: the first call about a GPU fills a table that every call reads, and no lock guards it. Where the
// driver's library reads a wild index, this one aborts.
class MetricTable {
 public:
  void use(std::uint32_t gpu) {
    if (filled_[gpu].exchange(true)) return check(!filling_);
    check(!filling_.exchange(true));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    filling_ = false;
  }

 private:
  static void check(bool untouched) {
    if (untouched) return;
    std::fputs("simulated driver: two GPUs' first GPM calls at once\n", stderr);
    std::abort();
  }

  std::array<std::atomic<bool>, max_gpus> filled_{};
  std::atomic<bool> filling_{false};
};

MetricTable& metric_table() {
  static auto* const table = new MetricTable;
  return *table;
}

// An id without a metric is a success of 0 without a name, as 580.159.04 answers 8, 14 and 15.
void answer(GpmMetric& out, const Taken& one, const Taken& other) {
  out.status = Return::success;
  out.value = 0;
  out.short_name = out.long_name = out.unit = nullptr;
  for (const Metric& metric : metrics) {
    if (static_cast<std::uint32_t>(metric.id) != out.id) continue;
    out.value = mean(one, other, metric.value) * metric.scale;
    out.short_name = metric.short_name;
    out.long_name = metric.long_name;
    out.unit = metric.unit;
    return;
  }
  if (out.id >= first_link && out.id < first_link + 2 * links_with_metrics) {
    const std::uint32_t link = (out.id - first_link) / 2;
    const bool receives = (out.id - first_link) % 2 == 0;
    out.short_name = receives ? "NVLINK_RX_PER_SEC" : "NVLINK_TX_PER_SEC";
    out.long_name = receives ? "NVLink in, one link" : "NVLink out, one link";
    out.unit = "MiB/s";
    if (link >= one.link_count) return;
    out.value = mean(one, other,
                     receives ? &Activity::nvlink_rx_bytes_per_second
                              : &Activity::nvlink_tx_bytes_per_second) *
                mib / one.link_count;
  }
}

bool same_source(const Place& one, const Place& other) {
  return one.gpu == other.gpu && one.instance == other.instance;
}

// Takes one into the caller's sample: of the whole GPU, or of the instance that `find` tells.
Return take(const Function& function, Device device, GpmSample sample, Takes takes,
            FunctionRef<Return(const View&, Taken&)> fill) {
  Taken taken;
  const Return answered = on_gpu(
      function, device, sample != nullptr,
      [&](const View& view) {
        if (view.gpu.identity.gpm_supported == 0) return Return::not_supported;
        metric_table().use(view.place.gpu);
        taken = Taken{};
        taken.filled = true;
        taken.place = view.place;
        taken.wall_us = view.wall_us();
        taken.link_count = view.gpu.link_count;
        return fill(view, taken);
      },
      takes);
  if (answered != Return::success) return answered;
  return samples().put(sample, taken) ? Return::success : Return::invalid_argument;
}

}  // namespace

extern "C" {

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* gpm_support) {
  return on_gpu(
      fn(__func__), device, gpm_support != nullptr,
      [&](const View& view) {
        if (gpm_support->version != gpm_support_version) return Return::argument_version_mismatch;
        gpm_support->supported = view.gpu.identity.gpm_supported;
        if (gpm_support->supported != 0) metric_table().use(view.place.gpu);
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlGpmSampleAlloc(GpmSample* gpm_sample) {
  return on_system(fn(__func__), gpm_sample != nullptr, [&](const SystemView&) {
    *gpm_sample = samples().add();
    return Return::success;
  });
}

Return nvmlGpmSampleFree(GpmSample gpm_sample) {
  const Return gate = on_system(fn(__func__), gpm_sample != nullptr,
                                [](const SystemView&) { return Return::success; });
  if (gate != Return::success) return gate;
  return samples().remove(gpm_sample) ? Return::success : Return::invalid_argument;
}

// In MIG mode only GPU instances have metrics: ask by MIG device, or by nvmlGpmMigSampleGet.
Return nvmlGpmSampleGet(Device device, GpmSample gpm_sample) {
  return take(fn(__func__), device, gpm_sample, Takes::gpu_or_mig,
              [](const View& view, Taken& taken) {
                if (view.place.is_mig()) {
                  taken.activity = activity(view.gpu, view.instance(), view.now_ns());
                  return Return::success;
                }
                if (view.gpu.mig.mode != 0) return Return::not_supported;
                taken.activity = view.activity();
                return Return::success;
              });
}

Return nvmlGpmMigSampleGet(Device device, unsigned gpu_instance_id, GpmSample gpm_sample) {
  return take(fn(__func__), device, gpm_sample, Takes::gpu, [&](const View& view, Taken& taken) {
    if (view.gpu.mig.mode == 0) return Return::not_supported;
    for (std::uint32_t row = 0; row < max_gpu_instances; ++row) {
      const GpuInstance& instance = view.gpu.mig.instances[row];
      if (instance.used == 0 || instance.id != gpu_instance_id) continue;
      taken.place.instance = row;
      taken.activity = activity(view.gpu, instance, view.now_ns());
      return Return::success;
    }
    return Return::invalid_argument;
  });
}

Return nvmlGpmMetricsGet(GpmMetricsGet* metrics_get) {
  return on_system(fn(__func__), metrics_get != nullptr, [&](const SystemView&) {
    if (metrics_get->version != gpm_metrics_get_version) return Return::argument_version_mismatch;
    if (metrics_get->count > gpm_max_metrics_13_2) return Return::invalid_argument;
    const auto earlier = samples().get(metrics_get->earlier);
    const auto later = samples().get(metrics_get->later);
    const bool good = earlier && later && earlier->filled && later->filled &&
                      same_source(earlier->place, later->place) &&
                      earlier->wall_us <= later->wall_us;
    if (!good) return Return::invalid_argument;
    metric_table().use(later->place.gpu);
    for (std::uint32_t i = 0; i < metrics_get->count; ++i) {
      answer(metrics_get->metrics[i], *earlier, *later);
    }
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
