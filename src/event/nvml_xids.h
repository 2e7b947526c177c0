// Event stage: the Xids that NVML tells, as events, for where the kernel log can't be read. NVML has the number alone:
// no process, no sub-fields (nvmlEventTypeXidCriticalError, https://docs.nvidia.com/deploy/nvml-api/).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "device/api.h"
#include "model/event.h"

namespace stoker::event {

class NvmlXids final : public device::PartListener {
 public:
  // `wanted` is asked at each Xid; `boot` is the boot id.
  NvmlXids(const Clock& clock, std::string boot, std::function<bool()> wanted,
           std::function<void(Event)> tell);
  void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) override EXCLUDES(mutex_);

 private:
  // Constant after construction.
  const Clock& clock_;
  const std::string boot_;
  const std::function<bool()> wanted_;
  const std::function<void(Event)> tell_;

  Mutex mutex_;
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker::event
