#include "device/nvml/xid_watch.h"

#include <fmt/format.h>

#include "device/nvml/events.h"
#include "device/nvml/status.h"

namespace stoker::nvml {
namespace {

constexpr Nanoseconds longest_silence = Seconds(30);

// Asks for Xids alone: clock changes flood (1,066 of 1,070 events in tests/fixtures/captures/h200x4).
Reason register_for_xids(const abi::Functions& nvml, abi::Device device, abi::EventSet set) {
  if (set == nullptr || nvml.nvmlDeviceRegisterEvents == nullptr) return Reason::not_supported;
  std::uint64_t supported = 0;
  if (nvml.nvmlDeviceGetSupportedEventTypes != nullptr) {
    const abi::Return code = nvml.nvmlDeviceGetSupportedEventTypes(device, &supported);
    if (code != abi::Return::success) return reason_of(code);
    if ((supported & abi::event_type::xid_critical) == 0) return Reason::not_supported;
  }
  return reason_of(nvml.nvmlDeviceRegisterEvents(device, abi::event_type::xid_critical, set));
}

}  // namespace

void XidWatch::start(const abi::Functions& nvml, const Clock& clock) {
  nvml_ = &nvml;
  clock_ = &clock;
  if (nvml.nvmlEventSetCreate == nullptr || nvml.nvmlEventSetWait_v2 == nullptr) return;
  if (nvml.nvmlEventSetCreate(&set_) != abi::Return::success) set_ = nullptr;
}

XidSlot& XidWatch::add(abi::Device device, const PciAddress& pci) {
  auto slot = std::make_unique<XidSlot>();
  slot->device = device;
  slot->pci = pci;
  slot->registered = register_for_xids(*nvml_, device, set_);
  slots_.push_back(std::move(slot));
  return *slots_.back();
}

void XidWatch::stop() {
  if (set_ != nullptr && nvml_->nvmlEventSetFree != nullptr) nvml_->nvmlEventSetFree(set_);
  set_ = nullptr;
}

// One lost GPU makes the wait for all fail (nvmlEventSetWait_v2, NVML_ERROR_GPU_IS_LOST), so a new set
// takes those that can still be registered.
void XidWatch::go_on_without_the_lost() {
  stop();
  if (nvml_->nvmlEventSetCreate(&set_) != abi::Return::success) set_ = nullptr;
  for (const auto& slot : slots_) {
    if (slot->registered == Reason::ok) {
      slot->registered = register_for_xids(*nvml_, slot->device, set_);
    }
  }
}

XidSlot* XidWatch::slot_of(abi::Device device) {
  for (const auto& slot : slots_) {
    if (slot->device == device) return slot.get();
  }
  return nullptr;
}

Result<std::optional<XidEvent>> XidWatch::wait(Milliseconds timeout) {
  bool any = false;
  for (const auto& slot : slots_) any = any || slot->registered == Reason::ok;
  if (set_ == nullptr || !any) {
    return fail(ErrorCode::not_supported, "the driver tells no Xids of any GPU that is open here");
  }
  abi::EventData data{};
  data.gpu_instance_id = abi::no_instance_id;
  data.compute_instance_id = abi::no_instance_id;
  const auto milliseconds = static_cast<unsigned>(timeout.count());
  const Called called = timed(*clock_, nvml_->nvmlEventSetWait_v2, set_, &data, milliseconds);
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
