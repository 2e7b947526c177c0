#include "event/nvml_xids.h"

#include <fmt/format.h>

#include <utility>

namespace stoker::event {

NvmlXids::NvmlXids(const Clock& clock, std::string boot, std::function<bool()> wanted,
                   std::function<void(Event)> tell)
    : clock_(clock), boot_(std::move(boot)), wanted_(std::move(wanted)), tell_(std::move(tell)) {}

void NvmlXids::on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) {
  if (!wanted_()) return;
  Event event{.kind = EventKind::xid, .code = xid, .pci = gpu};
  event.text = fmt::format("NVML: Xid ({}): {}", gpu.xid(), xid);
  event.time = WallTime{clock_.wall().since_epoch - (clock_.monotonic() - at)};
  {
    // A number of this process's own: never the same again, since the time is in it.
    const MutexLock lock(mutex_);
    event.origin = {boot_, "nvml", static_cast<std::uint64_t>(at.since_boot.count()) + ++told_};
  }
  tell_(std::move(event));
}

}  // namespace stoker::event
