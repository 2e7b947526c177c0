// Simulated library: event sets. Xids stand in a ring in the state; a waiter sleeps until the state
// changes, so an injected Xid arrives at once and an idle waiter costs nothing.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_safety.h"
#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

struct Registration {
  std::uint32_t gpu = no_row;
  std::uint64_t types = 0;
};

struct Set {
  Mutex mutex;
  std::vector<Registration> registered GUARDED_BY(mutex);
  std::optional<std::uint64_t> seen GUARDED_BY(mutex);  // nothing before the first registration
};

// Sets that callers hold, by the address that is their handle. Never destroyed: see Sessions.
class Sets {
 public:
  EventSet add() {
    auto set = std::make_shared<Set>();
    auto* const handle = reinterpret_cast<EventSet>(set.get());
    const MutexLock lock(mutex_);
    held_[handle] = std::move(set);
    return handle;
  }
  std::shared_ptr<Set> find(EventSet handle) {
    const MutexLock lock(mutex_);
    const auto found = held_.find(handle);
    return found == held_.end() ? nullptr : found->second;
  }
  bool remove(EventSet handle) {
    const MutexLock lock(mutex_);
    return held_.erase(handle) != 0;
  }

 private:
  Mutex mutex_;
  std::map<EventSet, std::shared_ptr<Set>> held_ GUARDED_BY(mutex_);
};

Sets& sets() {
  static auto* const all = new Sets;
  return *all;
}

bool wants(const std::vector<Registration>& registered, const Event& event) {
  return std::ranges::any_of(registered, [&](const Registration& one) {
    return one.gpu == event.gpu && (one.types & event.type) != 0;
  });
}

// The first event after `seen` that somebody asked for; `seen` moves past those that nobody did.
std::optional<Event> next_event(const State& state, const std::vector<Registration>& registered,
                                std::uint64_t& seen) {
  const std::uint64_t newest = state.last_event;
  if (newest > seen + max_events) seen = newest - max_events;  // the ring has overrun
  while (seen < newest) {
    const Event& event = state.events[seen % max_events];
    ++seen;
    if (event.sequence == seen && wants(registered, event)) return event;
  }
  return std::nullopt;
}

void fill(EventData& data, const Event& event) {
  data.device = device_handle(event.gpu);
  data.type = event.type;
  data.data = event.data;
  data.gpu_instance_id = event.gpu_instance;
  data.compute_instance_id = event.compute_instance;
}

bool take_event(const StateFile& file, Set& set, EventData& data) {
  const MutexLock lock(set.mutex);
  const std::vector<Registration> registered = set.registered;
  const std::uint64_t before = set.seen.value_or(0);
  std::uint64_t seen = before;
  const auto event = file.read([&](const State& state) {
    seen = before;
    return next_event(state, registered, seen);
  });
  set.seen = seen;
  if (event) fill(data, *event);
  return event.has_value();
}

bool one_is_lost(const StateFile& file, Set& set) {
  const MutexLock lock(set.mutex);
  const std::vector<Registration> registered = set.registered;
  return file.read([&](const State& state) {
    return std::ranges::any_of(registered, [&](const Registration& one) {
      return state.gpus[one.gpu].presence != Presence::present;
    });
  });
}

// nvml.h names GPU_IS_LOST among the answers of a wait, and not when: here it is what a timeout
// says when a GPU of the set is gone.
Return wait(const Function& function, EventSet handle, EventData* data, unsigned timeout_ms) {
  const Return gate = on_system(function, handle != nullptr && data != nullptr,
                                [](const SystemView&) { return Return::success; });
  if (gate != Return::success) return gate;
  const auto session = current_session();
  const auto set = sets().find(handle);
  if (session == nullptr) return Return::uninitialized;
  if (set == nullptr) return Return::invalid_argument;
  const StateFile& file = session->file;
  const Clock machine_time{};
  const std::uint64_t deadline =
      monotonic_ns(machine_time) + std::uint64_t{timeout_ms} * 1'000'000U;
  for (;;) {
    const std::uint64_t generation = file.generation();
    if (take_event(file, *set, *data)) return Return::success;
    const std::uint64_t now = monotonic_ns(machine_time);
    if (now >= deadline) return one_is_lost(file, *set) ? Return::gpu_is_lost : Return::timeout;
    file.wait_for_change(generation, deadline - now);
  }
}

}  // namespace

extern "C" {

Return nvmlDeviceGetSupportedEventTypes(Device device, std::uint64_t* event_types) {
  return tell(fn(__func__), device, event_types,
              [](const View& view) { return view.gpu.identity.supported_event_types; });
}

Return nvmlEventSetCreate(EventSet* set) {
  return on_system(fn(__func__), set != nullptr, [&](const SystemView&) {
    *set = sets().add();
    return Return::success;
  });
}

Return nvmlDeviceRegisterEvents(Device device, std::uint64_t event_types, EventSet set) {
  const auto target = sets().find(set);
  std::uint64_t newest = 0;
  std::uint32_t gpu = no_row;
  const Return answered = on_gpu(fn(__func__), device, target != nullptr, [&](const View& view) {
    if ((event_types & ~view.gpu.identity.supported_event_types) != 0) return Return::not_supported;
    newest = view.state.last_event;
    gpu = view.place.gpu;
    return Return::success;
  });
  if (answered != Return::success) return answered;
  const MutexLock lock(target->mutex);
  target->registered.push_back({gpu, event_types});
  if (!target->seen) target->seen = newest;
  return Return::success;
}

Return nvmlEventSetWait_v2(EventSet set, EventData* data, unsigned timeoutms) {
  return wait(fn(__func__), set, data, timeoutms);
}
Return nvmlEventSetWait(EventSet set, EventData* data, unsigned timeoutms) {
  return wait(fn(__func__), set, data, timeoutms);
}

Return nvmlEventSetFree(EventSet set) {
  const Return gate =
      on_system(fn(__func__), set != nullptr, [](const SystemView&) { return Return::success; });
  if (gate != Return::success) return gate;
  return sets().remove(set) ? Return::success : Return::invalid_argument;
}

}  // extern "C"
}  // namespace stoker::sim
