// Device stage: Xids as NVML's event stream tells them. One thread waits; each GPU's slot keeps the
// last number, which Getter::xid_event reads from memory.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "device/nvml/driver.h"
#include "device/nvml/functions.h"

namespace stoker::nvml {

struct XidSlot {
  // Constant once added.
  abi::Device device = nullptr;
  PciAddress pci;

  // ok, or why the driver tells no Xids of this GPU.
  std::atomic<Reason> registered{Reason::pending};
  std::atomic<std::uint64_t> last{0};  // 0: none since it was added
};

class XidWatch {
 public:
  // Both are called before wait(), by the thread that opens the GPUs.
  void start(const abi::Functions& nvml, const Clock& clock);
  XidSlot& add(abi::Device device, const PciAddress& pci);

  // Frees the event set; nobody may be waiting.
  void stop();

  // See Driver::wait_xid_event.
  Result<std::optional<XidEvent>> wait(Milliseconds timeout);

  // The slot's last Xid. Known while somebody waits: pending before the first wait, stale where the
  // last one is older than half a minute.
  [[nodiscard]] Reading last(const XidSlot& slot) const;

 private:
  [[nodiscard]] XidSlot* slot_of(abi::Device device);
  void go_on_without_the_lost();

  // Constant once started and added to.
  const abi::Functions* nvml_ = nullptr;
  const Clock* clock_ = nullptr;
  abi::EventSet set_ = nullptr;  // afterwards of the thread that waits
  std::vector<std::unique_ptr<XidSlot>> slots_;

  std::atomic<std::int64_t> waited_at_ns_{0};  // monotonic; 0: never
};

}  // namespace stoker::nvml
