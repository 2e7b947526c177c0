// Device stage: rates by GPM. A rate needs two samples of the GPU's counters; this keeps the earlier
// one for the whole GPU and for each GPU instance, and gives every sample back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "device/nvml/functions.h"
#include "device/nvml/gpm_gate.h"
#include "device/nvml/status.h"

namespace stoker::nvml {

// One sample buffer of the library.
class GpmBuffer {
 public:
  GpmBuffer() = default;
  explicit GpmBuffer(const abi::Functions& nvml);
  GpmBuffer(GpmBuffer&& other) noexcept { *this = std::move(other); }
  GpmBuffer& operator=(GpmBuffer&& other) noexcept {
    std::swap(nvml_, other.nvml_);
    std::swap(sample_, other.sample_);
    return *this;
  }
  GpmBuffer(const GpmBuffer&) = delete;
  GpmBuffer& operator=(const GpmBuffer&) = delete;
  ~GpmBuffer();

  [[nodiscard]] abi::GpmSample get() const { return sample_; }

 private:
  const abi::Functions* nvml_ = nullptr;
  abi::GpmSample sample_ = nullptr;
};

class GpmRates {
 public:
  // NVIDIA asks for 100 ms or more between the samples (nvml-api, nvmlGpmMetricsGet).
  static constexpr Nanoseconds shortest_window = Milliseconds(100);
  // A mean over more than this says nothing about now: our choice.
  static constexpr Nanoseconds longest_window = Seconds(60);

  // Before anything else, once, for a device that supports GPM. Takes the first sample. `gate` is of the process.
  void start(const abi::Functions& nvml, const Clock& clock, abi::Device device, GpmGate& gate);

  // One reading for each GPM metric id, in order: its mean since the last call. `pending` where
  // there is no earlier sample yet; a call too soon after the last gives the last readings again.
  const std::vector<Reading>& read_gpu(const std::vector<std::uint32_t>& metrics);

  // The same for a GPU instance. `identity` tells an instance from a later one with the same id.
  const std::vector<Reading>& read_instance(std::uint32_t id, const std::string& identity,
                                            const std::vector<std::uint32_t>& metrics);

  // Gives back the samples of instances that are not in `ids`.
  void keep_instances(const std::vector<std::uint32_t>& ids);

 private:
  struct Window {
    std::string identity;
    GpmBuffer earlier;
    GpmBuffer later;      // the newest sample, where there is one
    bool seeded = false;  // `later` holds a sample
    bool paired = false;  // `earlier` holds the one before
    MonotonicTime taken_at;
    std::vector<std::uint32_t> metrics;  // of `last`
    std::vector<Reading> last;
  };

  // One call of `function`; the first one while no other GPM call of the process runs.
  template <typename Function, typename... Arguments>
  Called call(bool& called_before, Function function, Arguments... arguments) {
    const GpmGate::Pass pass(*gate_, !std::exchange(called_before, true));
    return timed(*clock_, function, arguments...);
  }
  Called sample(Window& window, const std::uint32_t* instance);
  void read(Window& window, const std::uint32_t* instance,
            const std::vector<std::uint32_t>& metrics);
  void compute(Window& window, Nanoseconds sampling_took);

  const abi::Functions* nvml_ = nullptr;
  const Clock* clock_ = nullptr;
  abi::Device device_ = nullptr;
  GpmGate* gate_ = nullptr;
  bool sampled_ = false;
  bool sampled_instance_ = false;
  bool computed_ = false;
  Window gpu_;
  std::map<std::uint32_t, Window> instances_;
  std::unique_ptr<abi::GpmMetricsGet> request_;  // 13 KiB, so not on the stack
};

}  // namespace stoker::nvml
