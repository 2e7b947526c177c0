// Device stage: Xids as NVML's event stream tells them. One thread waits; each GPU's slot keeps the
// last number, which Getter::xid_event reads from memory.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_safety.h"
#include "device/nvml/driver.h"
#include "device/nvml/functions.h"

namespace stoker::nvml {

struct XidSlot {
  XidSlot(abi::Device its_device, const PciAddress& its_pci) : device(its_device), pci(its_pci) {}

  // Constant once added.
  abi::Device device;
  PciAddress pci;

  // pending until it is registered; then ok, or why the driver tells no Xids of this GPU.
  std::atomic<Reason> registered{Reason::pending};
  std::atomic<std::uint64_t> last{0};  // 0: none since it was added
};

class XidWatch {
 public:
  // Before anything else, once.
  void start(const abi::Functions& nvml, const Clock& clock);
  // Registers for the Xids of one GPU. From any thread, also while another one waits, and at the same
  // time for several GPUs: no lock is held while the driver is called.
  XidSlot& add(abi::Device device, const PciAddress& pci) EXCLUDES(mutex_);

  // Frees the event set; nobody may be waiting or adding.
  void stop() EXCLUDES(mutex_);

  // See Driver::wait_xid_event.
  Result<std::optional<XidEvent>> wait(Milliseconds timeout) EXCLUDES(mutex_);

  // The slot's last Xid. Known while somebody waits: pending before the first wait, stale where the
  // last one is older than half a minute.
  [[nodiscard]] Reading last(const XidSlot& slot) const;

 private:
  void register_slot(XidSlot& slot) EXCLUDES(mutex_);
  [[nodiscard]] bool any_registered() EXCLUDES(mutex_);
  [[nodiscard]] XidSlot* slot_of(abi::Device device) EXCLUDES(mutex_);
  void go_on_without_the_lost() EXCLUDES(mutex_);
  [[nodiscard]] abi::EventSet set() EXCLUDES(mutex_);

  // Constant once started.
  const abi::Functions* nvml_ = nullptr;
  const Clock* clock_ = nullptr;

  Mutex mutex_;
  abi::EventSet set_ GUARDED_BY(mutex_) = nullptr;
  int registering_ GUARDED_BY(mutex_) = 0;  // calls under way that name set_
  std::vector<std::unique_ptr<XidSlot>> slots_ GUARDED_BY(mutex_);

  std::atomic<std::int64_t> waited_at_ns_{0};  // monotonic; 0: never
};

}  // namespace stoker::nvml
