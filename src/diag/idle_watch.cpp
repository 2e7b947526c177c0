#include "diag/idle_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/check_state.h"

namespace stoker::diag {
namespace {

// Processes are listed every five seconds, if nobody says otherwise (options.def).
constexpr Nanoseconds oldest_list = Seconds(30);

bool has_pod(const std::string& uuid, const Attribution& told) {
  const auto holds = told.holds.find(uuid);
  return holds != told.holds.end() && !holds->second.empty();
}

// Of pods: nobody asks for them where attribution is off, and no_source is a node without a kubelet.
std::string pods_of(const std::string& uuid, const Attribution* told) {
  if (told == nullptr) return "";
  if (has_pod(uuid, *told)) return "a pod holds it";
  const Reason pods = told->pods.reason;
  if (pods == Reason::ok || pods == Reason::no_source) return "";
  return fmt::format("which pods hold it is not known: {}", describe(pods));
}

// The same share of `most` for a card at all times and on all nodes (FNV-1a, RFC 9923).
Nanoseconds share_of(const std::string& uuid, Nanoseconds most) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char one : uuid) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3;
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(hash % 1000) / 1000 *
                                               static_cast<double>(most.count())));
}

}  // namespace

std::string use_of(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  if (snapshot.source.state != device::SourceState::running) return "the driver is not being read";
  if (gpu.state != device::GpuState::present) return device::to_string(gpu.state);
  if (gpu.info.uuid.empty()) return "it has no UUID";
  if (gpu.info.mig_enabled) return "it is in MIG mode";
  if (!gpu.process_outcome.ok()) return "its processes can't be read";
  if (snapshot.taken_at - gpu.process_outcome.taken_at > oldest_list)
    return "its processes were not listed of late";
  const auto users = users_of(gpu);
  if (!users.who.empty()) return users.who.front();
  for (const FieldId id : {FieldId::utilization, FieldId::memory_used}) {
    const Reading reading = gpu.readings.get(id);
    if (!reading.ok())
      return fmt::format("{} can't be read: {}", field(id).name, describe(reading.reason));
  }
  if (as_double(gpu.readings.get(FieldId::utilization).value) > 0) return "it works";
  return pods_of(gpu.info.uuid, snapshot.attribution.get());
}

std::optional<std::string> IdleWatch::look(const IdleNow& now) {
  std::map<std::string, MonotonicTime> still;
  std::optional<std::string> out;
  std::optional<WallTime> longest;  // since that one was tested
  if (!first_look_) first_look_ = now.snapshot.taken_at;
  for (const auto& gpu : now.snapshot.gpus) {
    const std::string& uuid = gpu.info.uuid;
    if (!use_of(gpu, now.snapshot).empty() || now.held.contains(uuid)) continue;
    const auto since = idle_since_.find(uuid);
    const auto idle_since = since == idle_since_.end() ? now.snapshot.taken_at : since->second;
    still[uuid] = idle_since;
    if (now.snapshot.taken_at - idle_since < options_.idle) continue;
    const auto tested = now.tested.find(uuid);
    const WallTime last = tested == now.tested.end() ? WallTime{} : tested->second;
    // A clock that was set back makes no card wait for longer than it would have.
    const Nanoseconds ago = now.snapshot.wall.since_epoch - last.since_epoch;
    const bool never = tested == now.tested.end();
    const Nanoseconds later = options_.spread
                                  ? share_of(uuid, never ? options_.idle : options_.every / 10)
                                  : Nanoseconds{0};
    const bool is_due = never ? now.snapshot.taken_at - *first_look_ >= options_.idle + later
                              : ago < Nanoseconds{0} || ago >= options_.every + later;
    if (!is_due || (longest && last.since_epoch >= longest->since_epoch)) continue;
    longest = last;
    out = uuid;
  }
  idle_since_ = std::move(still);
  return out;
}

void IdleWatch::begun(const std::string& uuid) { idle_since_.erase(uuid); }

}  // namespace stoker::diag
