#include "device/nvml/xid_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/nvml/events.h"
#include "device/nvml/status.h"

namespace stoker::nvml {
namespace {

constexpr Nanoseconds longest_silence = Seconds(30);

// Asks for Xids alone: clock changes flood (1,066 of 1,070 events in tests/fixtures/captures/h200x4).
Reason register_for_xids(const abi::Functions& nvml, const Clock& clock, abi::Device device,
                         abi::EventSet set) {
  if (set == nullptr || nvml.nvmlDeviceRegisterEvents == nullptr) return Reason::not_supported;
  std::uint64_t supported = 0;
  if (nvml.nvmlDeviceGetSupportedEventTypes != nullptr) {
    const Called asked = timed(clock, nvml.nvmlDeviceGetSupportedEventTypes, device, &supported);
    if (!asked.ok()) return reason_of(asked.code);
    if ((supported & abi::event_type::xid_critical) == 0) return Reason::not_supported;
  }
  constexpr std::uint64_t wanted = abi::event_type::xid_critical;
  return reason_of(timed(clock, nvml.nvmlDeviceRegisterEvents, device, wanted, set).code);
}

abi::EventSet create_set(const abi::Functions& nvml, const Clock& clock) {
  abi::EventSet set = nullptr;
  if (nvml.nvmlEventSetWait_v2 == nullptr) return nullptr;
  return timed(clock, nvml.nvmlEventSetCreate, &set).ok() ? set : nullptr;
}

}  // namespace

void XidWatch::start(const abi::Functions& nvml, const Clock& clock) {
  nvml_ = &nvml;
  clock_ = &clock;
  abi::EventSet made = create_set(nvml, clock);
  const MutexLock lock(mutex_);
  set_ = made;
}

XidSlot& XidWatch::add(abi::Device device, const PciAddress& pci) {
  mutex_.lock();
  XidSlot& slot = *slots_.emplace_back(std::make_unique<XidSlot>(device, pci));
  mutex_.unlock();
  register_slot(slot);
  return slot;
}

// Again where another set took the place of the one that it was registered with.
void XidWatch::register_slot(XidSlot& slot) {
  while (true) {
    mutex_.lock();
    abi::EventSet into = set_;
    ++registering_;
    mutex_.unlock();
    const Reason told = register_for_xids(*nvml_, *clock_, slot.device, into);
    const MutexLock lock(mutex_);
    --registering_;
    if (told == Reason::ok && into != set_) continue;
    slot.registered = told;
    return;
  }
}

void XidWatch::stop() {
  const MutexLock lock(mutex_);
  if (set_ != nullptr && nvml_->nvmlEventSetFree != nullptr) nvml_->nvmlEventSetFree(set_);
  set_ = nullptr;
}

// One lost GPU makes the wait for all fail (nvmlEventSetWait_v2, NVML_ERROR_GPU_IS_LOST), so a new set
// takes those that can still be registered.
void XidWatch::go_on_without_the_lost() {
  abi::EventSet made = create_set(*nvml_, *clock_);
  std::vector<XidSlot*> again;
  mutex_.lock();
  abi::EventSet old = std::exchange(set_, made);
  // Another thread may be inside the driver with it for good; then it is not freed.
  const bool in_use = registering_ > 0;
  for (const auto& slot : slots_) {
    if (slot->registered == Reason::ok) again.push_back(slot.get());
  }
  mutex_.unlock();
  if (!in_use && old != nullptr && nvml_->nvmlEventSetFree != nullptr) nvml_->nvmlEventSetFree(old);
  for (XidSlot* slot : again) register_slot(*slot);
}

abi::EventSet XidWatch::set() {
  const MutexLock lock(mutex_);
  return set_;
}

bool XidWatch::any_registered() {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(slots_,
                             [](const auto& slot) { return slot->registered == Reason::ok; });
}

XidSlot* XidWatch::slot_of(abi::Device device) {
  const MutexLock lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->device == device) return slot.get();
  }
  return nullptr;
}

Result<std::optional<XidEvent>> XidWatch::wait(Milliseconds timeout) {
  abi::EventSet from = set();
  if (from == nullptr || !any_registered()) {
    return fail(ErrorCode::not_supported, "the driver tells no Xids of any GPU that is open here");
  }
  abi::EventData data{};
  data.gpu_instance_id = abi::no_instance_id;
  data.compute_instance_id = abi::no_instance_id;
  const auto milliseconds = static_cast<unsigned>(timeout.count());
  const Called called = timed(*clock_, nvml_->nvmlEventSetWait_v2, from, &data, milliseconds);
  if (called.ok() || called.code == abi::Return::timeout) {
    waited_at_ns_ = called.at.since_boot.count();
  } else {
    if (called.code == abi::Return::gpu_is_lost) go_on_without_the_lost();
    return fail(ErrorCode::unavailable,
                fmt::format("waiting for Xids failed: {}", nvml_->nvmlErrorString(called.code)));
  }
  if (!called.ok() || data.type != abi::event_type::xid_critical) return std::nullopt;
  XidSlot* const slot = slot_of(data.device);
  if (slot == nullptr) return std::nullopt;
  slot->last = data.data;
  return XidEvent{slot->pci, data.data, data.gpu_instance_id, data.compute_instance_id, called.at};
}

Reading XidWatch::last(const XidSlot& slot) const {
  const MonotonicTime now = clock_->monotonic();
  if (slot.registered != Reason::ok) return Reading::none(slot.registered, now);
  const std::int64_t waited_at = waited_at_ns_;
  if (waited_at == 0) return Reading::none(Reason::pending, now);
  if (now.since_boot.count() - waited_at > longest_silence.count()) {
    return Reading::none(Reason::stale, now);
  }
  return Reading::of(static_cast<std::int64_t>(slot.last.load()), now);
}

}  // namespace stoker::nvml
