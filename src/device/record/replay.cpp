#include "device/record/replay.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/sleep.h"

namespace stoker::device::record {
namespace {

struct Teller {
  Listener& to;
  const NodeSink& node;

  void operator()(const StatusTold& told) const { to.on_status(told.status); }
  void operator()(const DriverSeen& seen) const { to.on_driver(seen.driver); }
  void operator()(const InventorySeen& seen) const { to.on_inventory(seen.gpus); }
  void operator()(const ReadingsTold& told) const { to.on_readings(told.gpu, told.readings); }
  void operator()(const ProcessesTold& told) const {
    to.on_processes(told.gpu, told.outcome, told.processes);
  }
  void operator()(const StateTold& told) const {
    to.on_gpu_state(told.gpu, told.state, told.detail);
  }
  void operator()(const CostsTold& told) const { to.on_costs(told.gpu, told.costs); }
  void operator()(const XidTold& told) const { to.on_xid(told.gpu, told.xid, told.at); }
  void operator()(const NodeReadings& told) const {
    if (node.readings) node.readings(told.readings);
  }
  void operator()(const NodeCosts& told) const {
    if (node.costs) node.costs(told.costs);
  }
  void operator()(const DevicesSeen& seen) const {
    if (node.devices) node.devices(seen.devices);
  }
  // The replay's own business.
  void operator()(const Begin& /*begin*/) const {}
  void operator()(const WallTold& /*told*/) const {}
  void operator()(const End& /*end*/) const {}
};

}  // namespace

void tell(const Event& event, Listener& listener, const NodeSink& node) {
  std::visit(Teller{listener, node}, event.what);
}

ReplayClock::ReplayClock(const Facts& facts, double speed, const Clock& real)
    : first_(facts.first),
      speed_(speed),
      real_(real),
      limit_(facts.first.since_boot.count()),
      wall_ahead_((facts.begin.wall.since_epoch - facts.first.since_boot).count()) {}

void ReplayClock::start() { started_ = real_.monotonic().since_boot.count(); }

MonotonicTime ReplayClock::unlimited() const {
  const std::int64_t started = started_;
  if (started < 0) return first_;
  const auto passed = real_.monotonic() - MonotonicTime{Nanoseconds(started)};
  // A century, at whatever speed: far from where the sum would overflow.
  constexpr double most = 3.2e18;
  const double moved = std::min(static_cast<double>(passed.count()) * speed_, most);
  return first_ + Nanoseconds(static_cast<std::int64_t>(moved));
}

MonotonicTime ReplayClock::monotonic() const {
  return std::min(unlimited(), MonotonicTime{Nanoseconds(limit_)});
}

WallTime ReplayClock::wall() const { return {monotonic().since_boot + Nanoseconds(wall_ahead_)}; }

Nanoseconds ReplayClock::until(MonotonicTime at) const {
  const double left = static_cast<double>((at - unlimited()).count()) / speed_;
  return Nanoseconds(static_cast<std::int64_t>(std::min(left, 3.2e18)) + (left > 0 ? 1 : 0));
}

Result<std::unique_ptr<Replay>> Replay::open(const std::string& path, double speed,
                                             const Clock& real) {
  auto reader = FileReader::open(path);
  if (!reader) return fail(reader.error());
  if (reader->facts().lost_bytes > 0) {
    log::warning("recording_cut",
                 {{"file", path}, {"lost_bytes", std::to_string(reader->facts().lost_bytes)}});
  }
  return std::unique_ptr<Replay>(new Replay(std::move(*reader), path, speed, real));
}

Replay::Replay(FileReader reader, std::string path, double speed, const Clock& real)
    : facts_(reader.facts()),
      path_(std::move(path)),
      speed_(speed),
      clock_(facts_, speed, real),
      reader_(std::move(reader)) {}

Replay::~Replay() { stop(); }

ReplayState Replay::state() const {
  ReplayState state{.file = path_,
                    .recorded_at = facts_.begin.wall,
                    .length = facts_.last - facts_.first,
                    .position = clock_.monotonic() - facts_.first,
                    .speed = speed_,
                    .lost_bytes = facts_.lost_bytes};
  const MutexLock lock(mutex_);
  state.ended = ended_;
  state.problem = problem_;
  return state;
}

void Replay::start(Listener& listener) {
  clock_.start();
  thread_ = std::jthread([this, &listener](const std::stop_token& stop) { play(stop, listener); });
}

void Replay::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

bool Replay::wait_for(MonotonicTime at, const std::stop_token& stop) {
  // The limit first: until the event has been told, it is not later than that.
  clock_.limit(at);
  for (auto left = clock_.until(at); left > Nanoseconds(0); left = clock_.until(at)) {
    if (!sleep_unless_stopped(stop, std::min<Nanoseconds>(left, Seconds(3600)))) return false;
  }
  return !stop.stop_requested();
}

void Replay::play(const std::stop_token& stop, Listener& listener) {
  MonotonicTime at = facts_.first;
  while (!stop.stop_requested()) {
    auto event = reader_.next();
    if (!event) return end(event.error().describe());
    if (!*event) {
      // As late as the recording was when it ended.
      if (wait_for(std::max(at, facts_.last), stop)) end({});
      return;
    }
    at = std::max(at, (*event)->told);
    if (!wait_for(at, stop)) return;
    if (const auto* told = std::get_if<WallTold>(&(*event)->what)) clock_.set_wall(at, told->wall);
    tell(**event, listener, node_);
  }
}

void Replay::end(const std::string& problem) {
  if (problem.empty()) {
    log::info("replay_ended", {{"file", path_}});
  } else {
    log::error("replay_ended", {{"file", path_}, {"reason", problem}});
  }
  const MutexLock lock(mutex_);
  ended_ = true;
  problem_ = problem;
}

}  // namespace stoker::device::record
