#include "device/probe/supervisor.h"

#include <poll.h>

#include <csignal>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/thread_safety.h"
#include "base/waker.h"
#include "device/probe/driver_marker.h"
#include "device/probe/held_messages.h"
#include "device/probe/packet.h"
#include "device/probe/probe_lifecycle.h"
#include "device/probe/process.h"

namespace stoker::device::probe {
namespace {

SupervisorOptions fit(SupervisorOptions options) {
  options.timing = fitted(options.timing);
  return options;
}

}  // namespace

// Everything but the wishes is of the one thread that starts probes, hears them and tells the
// listener; that thread never waits for a probe.
class Supervisor::Shell {
 public:
  Shell(SupervisorOptions options, const Clock& clock)
      : options_(fit(std::move(options))), clock_(clock) {}
  ~Shell() { stop(); }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  void start(Listener& listener) {
    thread_ = std::thread([this, &listener] { run(listener); });
  }
  void stop() {
    wish([](Wishes& wishes) { wishes.stop = true; });
    if (thread_.joinable()) thread_.join();
  }
  void release() {
    wish([](Wishes& wishes) { wishes.released = true; });
  }
  void resume() {
    wish([](Wishes& wishes) { wishes.released = false; });
  }

 private:
  struct Wishes {
    bool stop = false;
    bool released = false;
  };
  struct Child {
    Process process;
    std::optional<DriverInfo> driver;
    std::vector<GpuInfo> gpus;
    std::uint64_t dropped = 0;
    bool readable = false;  // as the last wait() saw it
    bool ended = false;
    // What it told before it was the one whose readings count: its first round has fields that are
    // read seldom.
    HeldMessages held;
  };

  template <typename Change>
  void wish(Change change) {
    {
      const MutexLock lock(mutex_);
      change(wishes_);
    }
    waker_.wake();
  }
  Wishes take_wishes() {
    if (woken_) waker_.clear();
    const MutexLock lock(mutex_);
    return wishes_;
  }

  void run(Listener& listener);
  bool obey_wishes();
  void wait();
  void watch_driver();
  void reap();
  void hear_all();
  void hear(ProbeId id, Child& child);
  void hear_last(ProbeId id, Child& child);
  void hear_one(ProbeId id, Child& child, std::string_view packet);
  void refuse(ProbeId id, Child& child, const Error& why);
  void take(ProbeId id, Child& child, Message& message);
  void pass_on(const Message& message);
  void decide();

  void execute(const Command& command);
  void execute(const StartProbe& start);
  void execute(const AskToLeave& ask);
  void execute(const SignalProbe& signal);
  void execute(const LookAtProcess& look);
  void execute(const KillIfStopped& kill);
  void execute(const TellInventory& tell);
  void execute(const TellStatus& tell);
  void execute(const GpuTold& told);

  // Constant after construction.
  const SupervisorOptions options_;
  const Clock& clock_;
  const Waker waker_;

  Mutex mutex_;
  Wishes wishes_ GUARDED_BY(mutex_);

  // Of the thread.
  Inbox inbox_;
  Listener* listener_ = nullptr;
  std::optional<ProbeLifecycle> lifecycle_;
  std::map<ProbeId, Child> children_;
  std::map<PciAddress, GpuInfo> known_;
  std::string driver_identity_;
  MonotonicTime driver_seen_at_;
  MonotonicTime reaped_at_;
  bool released_ = false;
  bool woken_ = true;
  SourceState told_state_ = SourceState::starting;

  std::thread thread_;
};

void Supervisor::Shell::run(Listener& listener) {
  listener_ = &listener;
  lifecycle_.emplace(options_.timing, clock_.monotonic());
  driver_identity_ = driver_identity(options_.driver_marker);
  while (obey_wishes()) {
    watch_driver();
    hear_all();
    reap();
    decide();
    wait();
  }
  lifecycle_->stop(clock_.monotonic());
  const MonotonicTime until = clock_.monotonic() + options_.timing.stop_wait;
  listener_ = nullptr;
  do {
    hear_all();
    reap();
    decide();
    if (!children_.empty()) wait();
  } while (!children_.empty() && clock_.monotonic() < until);
  for (const auto& [id, child] : children_) {
    log::warning("probe_left_behind", {{"pid", std::to_string(child.process.pid())}});
  }
}

// False when it is time to stop.
bool Supervisor::Shell::obey_wishes() {
  const Wishes wishes = take_wishes();
  if (wishes.stop) return false;
  if (wishes.released == released_) return true;
  released_ = wishes.released;
  if (released_) {
    lifecycle_->release(clock_.monotonic());
  } else {
    lifecycle_->resume(clock_.monotonic());
  }
  return true;
}

void Supervisor::Shell::wait() {
  std::vector<pollfd> watched = {{waker_.fd(), POLLIN, 0}};
  // A negative descriptor (a probe that has closed its end) is passed over by poll(2).
  for (const auto& [id, child] : children_) {
    watched.push_back({child.process.socket(), POLLIN, 0});
    watched.push_back({child.process.end(), POLLIN, 0});
  }
  const auto longest = std::chrono::ceil<Milliseconds>(options_.timing.heartbeat);
  poll(watched.data(), watched.size(), static_cast<int>(longest.count()));
  woken_ = watched[0].revents != 0;
  std::size_t place = 1;
  for (auto& [id, child] : children_) {
    child.readable = watched[place++].revents != 0;
    child.ended = watched[place++].revents != 0;
  }
}

void Supervisor::Shell::watch_driver() {
  const MonotonicTime now = clock_.monotonic();
  if (options_.driver_marker.empty() || !lifecycle_->wants_driver()) return;
  if (now - driver_seen_at_ < options_.timing.heartbeat) return;
  driver_seen_at_ = now;
  std::string identity = driver_identity(options_.driver_marker);
  if (identity == driver_identity_) return;
  driver_identity_ = std::move(identity);
  if (driver_identity_.empty()) return;
  log::info("driver_loaded", {{"marker", options_.driver_marker}});
  lifecycle_->driver_reloaded(now);
}

// Where the kernel does not say when a process ends, it is asked once a heartbeat.
void Supervisor::Shell::reap() {
  const MonotonicTime now = clock_.monotonic();
  const bool ask_all = now - reaped_at_ >= options_.timing.heartbeat;
  if (ask_all) reaped_at_ = now;
  for (auto child = children_.begin(); child != children_.end();) {
    const auto how = child->second.ended || ask_all ? child->second.process.poll_exit()
                                                    : std::optional<std::string>();
    if (!how) {
      ++child;
      continue;
    }
    // Its last words, which came after the last look at its socket.
    hear_last(child->first, child->second);
    log::debug("probe_ended",
               {{"pid", std::to_string(child->second.process.pid())}, {"how", *how}});
    lifecycle_->exited(child->first, *how, clock_.monotonic());
    child = children_.erase(child);
  }
}

void Supervisor::Shell::hear_all() {
  // All at once: while the first is read, the others must not pass for silent.
  for (const auto& [id, child] : children_) {
    if (child.readable) lifecycle_->heard_anything(id, clock_.monotonic());
  }
  for (auto& [id, child] : children_) {
    if (std::exchange(child.readable, false)) hear(id, child);
  }
}

void Supervisor::Shell::hear(ProbeId id, Child& child) {
  // A child that talks without end must not keep the others waiting.
  constexpr int most_batches = 16;
  for (int batches = 0; batches < most_batches; ++batches) {
    const auto packets = inbox_.receive(child.process.socket());
    if (!packets) return refuse(id, child, packets.error());
    for (const std::string_view packet : *packets) {
      if (packet.empty()) return child.process.close_socket();  // it leaves, or has left
      hear_one(id, child, packet);
      if (child.process.socket() < 0) return;
    }
    if (packets->size() < Inbox::most) return;
  }
}

// Of one that has ended: how it did is told by its exit, not by its socket.
void Supervisor::Shell::hear_last(ProbeId id, Child& child) {
  while (child.process.socket() >= 0) {
    const auto packets = inbox_.receive(child.process.socket());
    if (!packets || packets->empty()) return;
    for (const std::string_view packet : *packets) {
      auto message = decode(packet);
      if (packet.empty() || !message) return;
      take(id, child, *message);
    }
  }
}

void Supervisor::Shell::hear_one(ProbeId id, Child& child, std::string_view packet) {
  auto message = decode(packet);
  if (message) return take(id, child, *message);
  refuse(id, child, message.error());
}

// Nothing more is read from it: a socket with an error is always ready, and nonsense may have no end.
// The end of the stream asks it to leave, too.
void Supervisor::Shell::refuse(ProbeId id, Child& child, const Error& why) {
  log::error("probe_not_understood", {{"reason", why.describe()}});
  child.process.close_socket();
  lifecycle_->heard_nonsense(id, why.describe(), clock_.monotonic());
}

void Supervisor::Shell::take(ProbeId id, Child& child, Message& message) {
  const MonotonicTime now = clock_.monotonic();
  if (auto* driver = std::get_if<DriverTold>(&message)) {
    child.driver = std::move(driver->info);
  } else if (const auto* result = std::get_if<InitResult>(&message)) {
    lifecycle_->heard(id, *result, now);
  } else if (auto* inventory = std::get_if<Inventory>(&message)) {
    child.gpus = inventory->gpus;
    lifecycle_->heard(id, *inventory, now);
  } else if (const auto* beat = std::get_if<Heartbeat>(&message)) {
    if (beat->dropped > child.dropped) {
      log::warning("probe_messages_dropped",
                   {{"pid", std::to_string(child.process.pid())},
                    {"messages", std::to_string(beat->dropped - child.dropped)}});
    }
    child.dropped = beat->dropped;
    lifecycle_->heard(id, *beat, now);
  } else if (const auto* readings = std::get_if<Readings>(&message)) {
    lifecycle_->heard(id, *readings, now);
  }
  // What follows from this message is told before what it says: a GPU that answers again first.
  decide();
  if (listener_ == nullptr) return;
  if (lifecycle_->main() != id) {
    return child.held.hold(std::move(message));
  }
  for (const Message& earlier : child.held.take()) pass_on(earlier);
  pass_on(message);
  if (const auto* xid = std::get_if<Xid>(&message)) {
    for (auto& [other, successor] : children_) {
      if (other != id) successor.held.told(*xid);
    }
  }
}

void Supervisor::Shell::pass_on(const Message& message) {
  if (const auto* readings = std::get_if<Readings>(&message)) {
    listener_->on_readings(readings->gpu, readings->readings);
  } else if (const auto* processes = std::get_if<Processes>(&message)) {
    listener_->on_processes(processes->gpu, processes->outcome, processes->processes);
  } else if (const auto* costs = std::get_if<Costs>(&message)) {
    listener_->on_costs(costs->gpu, costs->costs);
  } else if (const auto* xid = std::get_if<Xid>(&message)) {
    listener_->on_xid(xid->gpu, xid->xid, xid->at);
  }
}

void Supervisor::Shell::decide() {
  for (const Command& command : lifecycle_->tick(clock_.monotonic())) execute(command);
}

void Supervisor::Shell::execute(const Command& command) {
  std::visit([this](const auto& kind) { execute(kind); }, command);
}

void Supervisor::Shell::execute(const StartProbe& start) {
  auto process = Process::spawn({.program = options_.program,
                                 .arguments = options_.arguments,
                                 .environment = options_.environment});
  if (!process) {
    lifecycle_->start_failed(start.probe, process.error().describe(), clock_.monotonic());
    return;
  }
  process->send(encode(Configure{options_.library, start.scope, options_.rates,
                                 options_.timing.heartbeat, options_.timing.leave_after}));
  lifecycle_->started(start.probe, process->pid(), clock_.monotonic());
  log::debug("probe_started",
             {{"pid", std::to_string(process->pid())},
              {"opens", start.scope.only ? std::to_string(start.scope.only->size()) : "all"}});
  children_.emplace(start.probe, Child{std::move(*process), std::nullopt, {}});
}

void Supervisor::Shell::execute(const AskToLeave& ask) {
  const auto child = children_.find(ask.probe);
  if (child == children_.end()) return;
  child->second.process.send(encode(Leave{}));
  child->second.process.finish_sending();
}

void Supervisor::Shell::execute(const SignalProbe& signal) {
  const auto child = children_.find(signal.probe);
  if (child == children_.end()) return;
  log::warning("probe_signalled", {{"pid", std::to_string(child->second.process.pid())},
                                   {"signal", std::to_string(signal.number)}});
  child->second.process.signal(signal.number);
}

void Supervisor::Shell::execute(const LookAtProcess& look) {
  const auto child = children_.find(look.probe);
  if (child == children_.end()) return;
  lifecycle_->looked(look.probe, child->second.process.stopped(), clock_.monotonic());
}

void Supervisor::Shell::execute(const KillIfStopped& kill) {
  const auto child = children_.find(kill.probe);
  if (child == children_.end()) return;
  const bool stopped = child->second.process.stopped();
  lifecycle_->looked(kill.probe, stopped, clock_.monotonic());
  if (stopped) execute(SignalProbe{kill.probe, SIGKILL});
}

void Supervisor::Shell::execute(const TellInventory& tell) {
  const auto child = children_.find(tell.probe);
  if (child == children_.end() || listener_ == nullptr) return;
  std::vector<GpuInfo> gpus = child->second.gpus;
  for (const GpuInfo& gpu : gpus) known_[gpu.pci] = gpu;
  for (const PciAddress& pci : tell.left_alone) {
    if (const auto known = known_.find(pci); known != known_.end()) gpus.push_back(known->second);
  }
  if (child->second.driver) listener_->on_driver(*child->second.driver);
  listener_->on_inventory(gpus);
}

void Supervisor::Shell::execute(const TellStatus& tell) {
  if (listener_ == nullptr) return;
  if (tell.status.state != told_state_) {
    log::info("source", {{"state", to_string(tell.status.state)},
                         {"detail", tell.status.detail},
                         {"probe", std::to_string(tell.status.probe_pid)}});
  }
  told_state_ = tell.status.state;
  listener_->on_status(tell.status);
}

void Supervisor::Shell::execute(const GpuTold& told) {
  if (listener_ == nullptr) return;
  log::info("gpu",
            {{"pci", told.gpu.sysfs()}, {"state", to_string(told.state)}, {"detail", told.detail}});
  listener_->on_gpu_state(told.gpu, told.state, told.detail);
}

Supervisor::Supervisor(SupervisorOptions options, const Clock& clock)
    : shell_(std::make_unique<Shell>(std::move(options), clock)) {}
Supervisor::~Supervisor() = default;

void Supervisor::start(Listener& listener) { shell_->start(listener); }
void Supervisor::stop() { shell_->stop(); }
void Supervisor::release() { shell_->release(); }
void Supervisor::resume() { shell_->resume(); }

}  // namespace stoker::device::probe
