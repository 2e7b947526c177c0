// Device stage: one open GPU as the getters see it.
#pragma once

#include <vector>

#include "device/nvml/gpm_rates.h"
#include "device/nvml/plausible.h"
#include "device/nvml/session.h"
#include "device/nvml/status.h"

namespace stoker::nvml {

struct Card {
  Session* session = nullptr;
  abi::Device device = nullptr;
  device::GpuInfo info;
  std::vector<abi::Device> mig_devices;  // beside info.migs
  bool mig_capable = false;
  abi::Architecture architecture = abi::Architecture::unknown;
  GpmRates gpm;
  XidSlot* xid = nullptr;  // of session->xids
  // Which of two ways tells NVLink errors on this card; found out by the first read.
  enum class LinkErrorSource {
    untried,
    field_values,
    counters
  } link_errors = LinkErrorSource::untried;

  [[nodiscard]] const abi::Functions& nvml() const { return session->nvml(); }
  [[nodiscard]] const Clock& clock() const { return *session->clock; }
};

using Fields = std::vector<const Field*>;
using Readings = std::vector<device::TargetReading>;

inline std::int64_t whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Adds `reading` of `field`, checked for physical sense.
inline void put(Readings& out, const Field& field, const Reading& reading,
                device::Target target = {}) {
  out.push_back({target, field.id, plausible(field, reading)});
}

inline device::Target mig_target(std::size_t index) {
  return {EntityKind::mig, static_cast<std::uint32_t>(index)};
}

}  // namespace stoker::nvml
