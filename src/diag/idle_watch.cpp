#include "diag/idle_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/check_state.h"

namespace stoker::diag {
namespace {

// Processes are listed every five seconds, if nobody says otherwise (options.def).
constexpr Nanoseconds oldest_list = Seconds(30);

// The same share of `most` for a card at all times and on all nodes (FNV-1a, RFC 9923).
Nanoseconds share_of(const std::string& uuid, Nanoseconds most) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char one : uuid) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3;
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(hash % 1000) / 1000 *
                                               static_cast<double>(most.count())));
}

}  // namespace

// Nobody asks for them where attribution is off, and no_source is a node without a kubelet.
std::optional<Obstacle> pods_of(const std::string& uuid, const store::Snapshot& snapshot) {
  const Attribution* const told = snapshot.attribution.get();
  if (told == nullptr) return std::nullopt;
  const auto holds = told->holds.find(uuid);
  if (holds != told->holds.end() && !holds->second.empty()) {
    const auto& holder = holds->second.front().holder;
    return Obstacle{TestState::held_by_pod,
                    fmt::format("pod {}/{}", holder.pod_namespace, holder.pod)};
  }
  const Reason pods = told->pods.reason;
  if (pods == Reason::ok || pods == Reason::no_source) return std::nullopt;
  return Obstacle{TestState::pods_unknown,
                  fmt::format("which pods hold it is not known: {}", describe(pods))};
}

std::optional<Obstacle> use_of(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  const auto not_known = [](std::string why) {
    return Obstacle{TestState::unknown, std::move(why)};
  };
  if (snapshot.source.state != device::SourceState::running)
    return not_known("the driver is not being read");
  if (gpu.state != device::GpuState::present)
    return not_known(fmt::format("it is {}", device::to_string(gpu.state)));
  if (gpu.info.uuid.empty()) return not_known("it has no UUID");
  if (gpu.info.mig_enabled) return Obstacle{TestState::mig, "it is in MIG mode"};
  if (!gpu.process_outcome.ok()) return not_known("its processes can't be read");
  if (snapshot.taken_at - gpu.process_outcome.taken_at > oldest_list)
    return not_known("its processes were not listed of late");
  const auto users = users_of(gpu);
  if (!users.who.empty()) return Obstacle{TestState::in_use, users.who.front()};
  for (const FieldId id : {FieldId::utilization, FieldId::memory_used}) {
    const Reading reading = gpu.readings.get(id);
    if (!reading.ok())
      return not_known(
          fmt::format("{} can't be read: {}", field(id).name, describe(reading.reason)));
  }
  if (as_double(gpu.readings.get(FieldId::utilization).value) > 0)
    return Obstacle{TestState::in_use, "it works"};
  return pods_of(gpu.info.uuid, snapshot);
}

// Until it has been idle for long enough, as it is now.
Nanoseconds IdleWatch::idle_left(const std::string& uuid, const IdleNow& now) const {
  const auto since = idle_since_.find(uuid);
  return since == idle_since_.end() ? options_.idle
                                    : since->second + options_.idle - now.snapshot.taken_at;
}

// Until it may be tested again.
Nanoseconds IdleWatch::turn_left(const std::string& uuid, const IdleNow& now) const {
  const auto tested = now.tested.find(uuid);
  const bool never = tested == now.tested.end();
  const Nanoseconds later = options_.spread
                                ? share_of(uuid, never ? options_.idle : options_.every / 10)
                                : Nanoseconds{0};
  if (never) return *first_look_ + options_.idle + later - now.snapshot.taken_at;
  // A clock that was set back makes no card wait for longer than it would have.
  const Nanoseconds ago = now.snapshot.wall.since_epoch - tested->second.since_epoch;
  return ago < Nanoseconds{0} ? Nanoseconds{0} : options_.every + later - ago;
}

IdleLook IdleWatch::look(const IdleNow& now) {
  IdleLook out;
  const auto taken_at = now.snapshot.taken_at;
  std::map<std::string, MonotonicTime> still;
  std::optional<WallTime> longest;  // since that one was tested
  if (!first_look_) first_look_ = taken_at;
  for (const auto& gpu : now.snapshot.gpus) {
    const std::string& uuid = gpu.info.uuid;
    auto& card = out.cards[uuid];
    const auto held = now.held.find(uuid);
    auto use = held != now.held.end() ? held->second : use_of(gpu, now.snapshot);
    if (use) {
      card.now = std::move(*use);
      continue;
    }
    const auto not_before = now.not_before.find(uuid);
    const Nanoseconds barred =
        not_before == now.not_before.end() ? Nanoseconds{0} : not_before->second - taken_at;
    const auto since = idle_since_.find(uuid);
    if (barred <= Nanoseconds{0})
      still[uuid] = since == idle_since_.end() ? taken_at : since->second;
    const Nanoseconds left =
        std::max(barred > Nanoseconds{0} ? barred + options_.idle : idle_left(uuid, now),
                 turn_left(uuid, now));
    card.now.state = TestState::waits;
    card.next = WallTime{now.snapshot.wall.since_epoch + std::max(left, Nanoseconds{0})};
    const auto tested = now.tested.find(uuid);
    const WallTime last = tested == now.tested.end() ? WallTime{} : tested->second;
    if (left > Nanoseconds{0} || (longest && last.since_epoch >= longest->since_epoch)) continue;
    longest = last;
    out.due = uuid;
  }
  idle_since_ = std::move(still);
  return out;
}

void IdleWatch::begun(const std::string& uuid) { idle_since_.erase(uuid); }

}  // namespace stoker::diag
