#include "device/nvml/gpm_rates.h"

#include <algorithm>
#include <utility>

namespace stoker::nvml {

GpmBuffer::GpmBuffer(const abi::Functions& nvml) : nvml_(&nvml) {
  if (nvml.nvmlGpmSampleAlloc == nullptr || nvml.nvmlGpmSampleFree == nullptr) return;
  if (nvml.nvmlGpmSampleAlloc(&sample_) != abi::Return::success) sample_ = nullptr;
}

GpmBuffer::~GpmBuffer() {
  if (sample_ != nullptr) nvml_->nvmlGpmSampleFree(sample_);
}

void GpmRates::start(const abi::Functions& nvml, const Clock& clock, abi::Device device,
                     GpmGate& gate) {
  nvml_ = &nvml;
  clock_ = &clock;
  device_ = device;
  gate_ = &gate;
  request_ = std::make_unique<abi::GpmMetricsGet>();
  read(gpu_, nullptr, {});
}

const std::vector<Reading>& GpmRates::read_gpu(const std::vector<std::uint32_t>& metrics) {
  read(gpu_, nullptr, metrics);
  return gpu_.last;
}

const std::vector<Reading>& GpmRates::read_instance(std::uint32_t id, const std::string& identity,
                                                    const std::vector<std::uint32_t>& metrics) {
  Window& window = instances_[id];
  if (window.identity != identity) window = Window{};
  window.identity = identity;
  read(window, &id, metrics);
  return window.last;
}

void GpmRates::keep_instances(const std::vector<std::uint32_t>& ids) {
  std::erase_if(instances_, [&](const auto& entry) {
    return std::ranges::find(ids, entry.first) == ids.end();
  });
}

// Makes a new sample the newest one; the newest of before becomes the earlier one.
Called GpmRates::sample(Window& window, const std::uint32_t* instance) {
  std::swap(window.earlier, window.later);
  GpmBuffer& into = window.later;
  if (into.get() == nullptr) into = GpmBuffer(*nvml_);
  Called called{abi::Return::memory, clock_->monotonic(), Nanoseconds{0}};
  if (into.get() != nullptr) {
    called = instance == nullptr ? call(sampled_, nvml_->nvmlGpmSampleGet, device_, into.get())
                                 : call(sampled_instance_, nvml_->nvmlGpmMigSampleGet, device_,
                                        *instance, into.get());
  }
  window.paired =
      window.seeded && called.ok() && called.at - window.taken_at <= longest_window + called.took;
  window.seeded = called.ok();
  window.taken_at = called.at;
  return called;
}

void GpmRates::read(Window& window, const std::uint32_t* instance,
                    const std::vector<std::uint32_t>& metrics) {
  const bool too_soon = window.seeded && clock_->monotonic() - window.taken_at < shortest_window;
  if (too_soon && window.metrics == metrics) return;
  window.metrics = metrics;
  const Called called = too_soon ? Called{abi::Return::success, window.taken_at, Nanoseconds{0}}
                                 : sample(window, instance);
  if (window.paired) return compute(window, called.took);
  window.last.assign(metrics.size(),
                     called.none(called.ok() ? Reason::pending : reason_of(called.code)));
}

void GpmRates::compute(Window& window, Nanoseconds sampling_took) {
  abi::GpmMetricsGet& request = *request_;
  const std::size_t count = std::min(window.metrics.size(), std::size(request.metrics));
  request.version = abi::gpm_metrics_get_version;
  request.count = static_cast<std::uint32_t>(count);
  request.earlier = window.earlier.get();
  request.later = window.later.get();
  for (std::size_t i = 0; i < count; ++i) {
    request.metrics[i] = {};
    request.metrics[i].id = window.metrics[i];
    request.metrics[i].status = abi::Return::no_data;
  }
  const Called called = call(computed_, nvml_->nvmlGpmMetricsGet, &request);
  const Nanoseconds took = sampling_took + called.took;
  window.last.assign(window.metrics.size(), Reading::none(reason_of(called.code), called.at, took));
  for (std::size_t i = 0; called.ok() && i < count; ++i) {
    const abi::GpmMetric& metric = request.metrics[i];
    // A metric that this card or driver doesn't know is an argument that NVML calls invalid.
    // Some are a success of 0 without a name (580.159.04, ids 8, 14 and 15: tests/fixtures/captures/h100x1).
    const bool nameless = metric.short_name == nullptr && metric.value == 0;
    const bool unknown = metric.status == abi::Return::invalid_argument || nameless;
    const Reason reason = unknown ? Reason::not_supported : reason_of(metric.status);
    window.last[i] = reason == Reason::ok ? Reading::of(metric.value, called.at, took)
                                          : Reading::none(reason, called.at, took);
  }
}

}  // namespace stoker::nvml
