// A small world for tests of ProbeLifecycle: a clock that tests move, a driver whose GPUs can be made
// to hang, vanish or come back, and probe processes that open them, beat, read and leave as the real
// ones do. It executes every command of the lifecycle and records what was told.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "device/probe/probe_lifecycle.h"

namespace stoker::device::probe {

inline PciAddress gpu_address(int number) {
  return {0, static_cast<std::uint8_t>(0x10 + number), 0, 0};
}

// What is wrong with the simulated driver.
struct FakeDriver {
  std::set<PciAddress> gpus;
  std::set<PciAddress> hanging;        // calls of these do not return
  std::set<PciAddress> hanging_open;   // nor does the call that opens one of these
  std::set<PciAddress> lost;           // calls of these say so
  bool locked = false;                 // no call of anything returns
  bool one_lock = false;               // a call that hangs stops every other call
  bool uninterruptible = false;        // a process with a call under way does not die (state D)
  std::optional<SourceState> refuses;  // starting the driver fails with this
  bool refuses_to_open_all = false;    // a probe with the scope of a successor can't be spawned
  bool unloaded = false;               // calls of probes that are open say that the driver is gone
};

struct FakeProbe {
  int pid = 0;
  Scope scope;
  bool stopped = false;   // SIGSTOP
  bool asked = false;     // to leave: it goes once its calls are back, or older than leave_after
  bool leaving = false;   // a fatal signal
  bool immortal = false;  // does not die while it has a call under way
  bool initialised = false;
  bool listed = false;
  std::optional<MonotonicTime> init_since;
  std::map<PciAddress, MonotonicTime> calls;
  std::map<PciAddress, MonotonicTime> opening;
  std::set<PciAddress> open;
  std::set<PciAddress> refused;
  std::map<PciAddress, MonotonicTime> read_at;
  std::set<PciAddress> gone;  // lost while this process had them open: it never sees them again
};

class ProbeWorld {
 public:
  // The times of docs/specs/probe.md, seen in steps of a quarter of a second.
  static Timing fine_steps() {
    Timing timing;
    timing.heartbeat = Milliseconds(250);
    return timing;
  }
  explicit ProbeWorld(int gpus, const Timing& timing = fine_steps())
      : timing_(timing), lifecycle_(timing, clock_.monotonic()) {
    for (int number = 0; number < gpus; ++number) driver.gpus.insert(gpu_address(number));
  }

  FakeDriver driver;

  // Lets `time` pass in steps of one heartbeat.
  void pass(Nanoseconds time) {
    for (Nanoseconds left = time; left > Nanoseconds{0}; left -= timing_.heartbeat) step();
  }
  // Steps until `done` or for `longest`; true if it came true.
  template <typename Done>
  bool pass_until(Done done, Nanoseconds longest) {
    for (Nanoseconds left = longest; left > Nanoseconds{0}; left -= timing_.heartbeat) {
      if (done()) return true;
      step();
    }
    return done();
  }

  void step() {
    clock_.advance(timing_.heartbeat);
    for (auto& [id, probe] : probes_) live(id, probe);
    for (auto probe = probes_.begin(); probe != probes_.end();) {
      if (!dies(probe->second)) {
        ++probe;
        continue;
      }
      lifecycle_.exited(probe->first, "ended", now());
      probe = probes_.erase(probe);
    }
    decide();
  }

  // The agent does not run for so long, while its probes do and talk to it.
  void agent_sleeps(Nanoseconds time) {
    for (Nanoseconds left = time; left > Nanoseconds{0}; left -= timing_.heartbeat) {
      clock_.advance(timing_.heartbeat);
    }
    decide();
  }

  void kill_main() { find_main()->leaving = true; }
  void wake_main_just_before_the_next_look() { wakes_before_look_ = true; }
  void stop_main() { find_main()->stopped = true; }
  void make_immortal(ProbeId probe) { probes_.at(probe).immortal = true; }
  void reload_driver() { lifecycle_.driver_reloaded(now()); }
  void release() { lifecycle_.release(now()); }
  void resume() { lifecycle_.resume(now()); }

  [[nodiscard]] MonotonicTime now() const { return clock_.monotonic(); }
  [[nodiscard]] ManualClock& clock() { return clock_; }
  [[nodiscard]] const ProbeLifecycle& lifecycle() const { return lifecycle_; }
  [[nodiscard]] const SourceStatus& status() const { return status_; }
  [[nodiscard]] GpuState state(int gpu) const {
    const auto found = states_.find(gpu_address(gpu));
    return found == states_.end() ? GpuState::present : found->second;
  }
  // When the last reading of this GPU was passed on.
  [[nodiscard]] Nanoseconds age(int gpu) const {
    const auto found = read_at_.find(gpu_address(gpu));
    return found == read_at_.end() ? Nanoseconds::max() : now() - found->second;
  }
  [[nodiscard]] const std::map<ProbeId, FakeProbe>& probes() const { return probes_; }
  [[nodiscard]] const std::vector<Scope>& started() const { return started_; }
  // Everything but statuses, as text with the time since the world began: "45.0s leave 1".
  [[nodiscard]] const std::vector<std::string>& record() const { return record_; }
  [[nodiscard]] std::vector<std::string> record_of(const std::string& word) const {
    std::vector<std::string> all;
    for (const std::string& line : record_) {
      if (line.find(" " + word) != std::string::npos) all.push_back(line);
    }
    return all;
  }
  [[nodiscard]] bool ran_well() const {
    return status_.state == SourceState::running && !states_hung_or_lost();
  }
  std::size_t most_living = 0;
  // The youngest call age at which a probe in the driver got each signal.
  std::map<int, Nanoseconds> signalled_at;

 private:
  [[nodiscard]] bool states_hung_or_lost() const {
    for (const auto& [gpu, state] : states_) {
      if (state != GpuState::present) return true;
    }
    return false;
  }
  FakeProbe* find_main() {
    const auto found = probes_.find(lifecycle_.main());
    return found == probes_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool in_driver(const FakeProbe& probe) const {
    return probe.init_since || !probe.calls.empty() || !probe.opening.empty();
  }
  bool dies(const FakeProbe& probe) const {
    if (probe.stopped) return false;
    if ((driver.uninterruptible || probe.immortal) && in_driver(probe)) return false;
    return probe.leaving || (probe.asked && !has_young_call(probe));
  }
  [[nodiscard]] bool has_young_call(const FakeProbe& probe) const {
    const auto is_young = [this](MonotonicTime since) {
      return now() - since < timing_.leave_after;
    };
    const auto any_young = [&](const auto& calls) {
      return std::ranges::any_of(calls, [&](const auto& call) { return is_young(call.second); });
    };
    return (probe.init_since && is_young(*probe.init_since)) || any_young(probe.calls) ||
           any_young(probe.opening);
  }
  void finish_calls(FakeProbe& probe) {
    if (blocked()) return;
    if (driver.hanging.empty()) probe.init_since.reset();
    std::erase_if(probe.calls,
                  [this](const auto& call) { return !driver.hanging.contains(call.first); });
    std::erase_if(probe.opening,
                  [this](const auto& call) { return !driver.hanging_open.contains(call.first); });
  }

  [[nodiscard]] bool blocked() const {
    if (driver.locked || !driver.one_lock) return driver.locked;
    for (const auto& [id, probe] : probes_) {
      for (const auto& [gpu, since] : probe.calls) {
        if (driver.hanging.contains(gpu)) return true;
      }
    }
    return false;
  }

  void live(ProbeId id, FakeProbe& probe) {
    if (probe.stopped || probe.leaving) return;
    if (probe.asked) {
      finish_calls(probe);
      return beat(id, probe);
    }
    start_driver(id, probe);
    open_gpus(id, probe);
    read_gpus(id, probe);
    beat(id, probe);
  }

  void beat(ProbeId id, const FakeProbe& probe) {
    Heartbeat beat{.at = now()};
    if (probe.init_since) {
      beat.threads.push_back({ThreadState::Kind::init, {}, 0, Getter::count_, probe.init_since});
    }
    for (const PciAddress& gpu : probe.open) {
      ThreadState thread{ThreadState::Kind::gpu, gpu, 0, Getter::power_usage, std::nullopt};
      if (const auto call = probe.calls.find(gpu); call != probe.calls.end()) {
        thread.since = call->second;
      }
      beat.threads.push_back(thread);
    }
    for (const auto& [gpu, since] : probe.opening) {
      const auto kind = probe.scope.only ? ThreadState::Kind::gpu : ThreadState::Kind::opening;
      beat.threads.push_back({kind, gpu, index_of(gpu), Getter::count_, since});
    }
    lifecycle_.heard(id, beat, now());
  }

  [[nodiscard]] std::uint32_t index_of(const PciAddress& gpu) const {
    return static_cast<std::uint32_t>(std::distance(driver.gpus.begin(), driver.gpus.find(gpu)));
  }

  void start_driver(ProbeId id, FakeProbe& probe) {
    if (probe.initialised) return;
    if (!probe.init_since) probe.init_since = now();
    std::vector<PciAddress> wanted(driver.gpus.begin(), driver.gpus.end());
    if (probe.scope.only) wanted = *probe.scope.only;
    if (blocked()) return;
    // Without NO_ATTACH the driver touches every GPU while it starts.
    if (!probe.scope.no_attach && !driver.hanging.empty()) return;
    probe.init_since.reset();
    probe.initialised = true;
    if (driver.refuses) {
      lifecycle_.heard(id, InitResult{*driver.refuses, "refused"}, now());
      return;
    }
    lifecycle_.heard(id, InitResult{SourceState::running, ""}, now());
    for (const PciAddress& gpu : wanted) probe.opening[gpu] = now();
  }

  // Those whose opening returns; tells the inventory when it is the first, or another one.
  void open_gpus(ProbeId id, FakeProbe& probe) {
    if (!probe.initialised || driver.refuses || blocked()) return;
    const auto opens = [this](const auto& gpu) { return !driver.hanging_open.contains(gpu.first); };
    if (probe.listed && std::ranges::none_of(probe.opening, opens)) return;
    for (const auto& [gpu, since] : probe.opening) {
      if (opens(std::pair(gpu, since)))
        (driver.lost.contains(gpu) ? probe.refused : probe.open).insert(gpu);
    }
    std::erase_if(probe.opening, opens);
    Inventory inventory;
    for (const PciAddress& gpu : probe.refused) {
      inventory.unopened.push_back({gpu, 0, Reason::lost, "lost"});
    }
    for (const PciAddress& gpu : probe.open) {
      GpuInfo& info = inventory.gpus.emplace_back();
      info.pci = gpu;
      info.index = index_of(gpu);
    }
    for (const auto& [gpu, since] : probe.opening) {
      inventory.opening.push_back(
          {index_of(gpu), probe.scope.only ? std::optional(gpu) : std::nullopt});
    }
    probe.listed = true;
    lifecycle_.heard(id, inventory, now());
  }

  void read_gpus(ProbeId id, FakeProbe& probe) {
    for (const PciAddress& gpu : probe.open) {
      if (driver.hanging.contains(gpu) || blocked()) {
        probe.calls.try_emplace(gpu, now());
        continue;
      }
      probe.calls.erase(gpu);
      if (driver.lost.contains(gpu)) probe.gone.insert(gpu);
      const bool lost = probe.gone.contains(gpu);
      const Reason none = driver.unloaded ? Reason::driver_gone : Reason::lost;
      const Reading reading = lost || driver.unloaded ? Reading::none(none, now())
                                                      : Reading::of(std::int64_t{1}, now());
      lifecycle_.heard(id, Readings{gpu, {{Target{}, FieldId::power, reading}}}, now());
      if (!reading.ok()) continue;
      probe.read_at[gpu] = now();
      if (lifecycle_.main() == id) read_at_[gpu] = now();
    }
  }

  void decide() {
    for (const Command& command : lifecycle_.tick(now())) {
      std::visit([this](const auto& kind) { execute(kind); }, command);
    }
    most_living = std::max(most_living, lifecycle_.living());
  }

  void note(const std::string& text) {
    const auto since = now() - begin_;
    record_.push_back(
        fmt::format("{:.1f}s {}", std::chrono::duration<double>(since).count(), text));
  }

  void execute(const StartProbe& start) {
    if (driver.refuses_to_open_all && !start.scope.only) {
      note(fmt::format("refuse {}", start.probe));
      lifecycle_.start_failed(start.probe, "fork: Resource temporarily unavailable", now());
      return;
    }
    note(fmt::format("start {}", start.probe));
    FakeProbe probe;
    probe.pid = next_pid_++;
    probe.scope = start.scope;
    started_.push_back(start.scope);
    probes_.emplace(start.probe, probe);
    lifecycle_.started(start.probe, probe.pid, now());
  }
  void execute(const AskToLeave& ask) {
    note(fmt::format("leave {}", ask.probe));
    // A stopped process hears it when it goes on.
    if (const auto found = probes_.find(ask.probe); found != probes_.end()) {
      found->second.asked = true;
    }
  }
  void execute(const SignalProbe& signal) {
    note(fmt::format("signal {} to {}", signal.number, signal.probe));
    const auto found = probes_.find(signal.probe);
    if (found == probes_.end()) return;
    FakeProbe& probe = found->second;
    if (signal.number == SIGCONT) {
      probe.stopped = probe.stopped && stays_stopped;
      return;
    }
    record_age(signal.number, probe);
    probe.leaving = true;
    if (signal.number == SIGKILL) probe.stopped = false;
  }
  void record_age(int number, const FakeProbe& probe) {
    if (!in_driver(probe)) return;
    MonotonicTime oldest = probe.init_since.value_or(now());
    for (const auto& [gpu, since] : probe.calls) oldest = std::min(oldest, since);
    for (const auto& [gpu, since] : probe.opening) oldest = std::min(oldest, since);
    const auto [entry, first] = signalled_at.try_emplace(number, now() - oldest);
    if (!first) entry->second = std::min(entry->second, now() - oldest);
  }
  void execute(const LookAtProcess& look) {
    const auto found = probes_.find(look.probe);
    if (found != probes_.end()) lifecycle_.looked(look.probe, found->second.stopped, now());
  }
  void execute(const KillIfStopped& kill) {
    const auto found = probes_.find(kill.probe);
    if (found == probes_.end()) return;
    if (std::exchange(wakes_before_look_, false)) found->second.stopped = false;
    const bool stopped = found->second.stopped;
    lifecycle_.looked(kill.probe, stopped, now());
    if (stopped) execute(SignalProbe{kill.probe, SIGKILL});
  }
  void execute(const TellInventory& tell) {
    note(fmt::format("inventory of {}", tell.probe));
    // What a successor has read before it took over is passed on then.
    for (const auto& [gpu, at] : probes_.at(tell.probe).read_at) read_at_[gpu] = at;
  }
  void execute(const TellStatus& tell) { status_ = tell.status; }
  void execute(const GpuTold& told) {
    note(fmt::format("gpu {:02x} {}", told.gpu.bus, to_string(told.state)));
    states_[told.gpu] = told.state;
  }

 public:
  bool stays_stopped = false;  // SIGCONT does not help

 private:
  const Timing timing_;
  ManualClock clock_;
  const MonotonicTime begin_ = clock_.monotonic();
  ProbeLifecycle lifecycle_;
  std::map<ProbeId, FakeProbe> probes_;
  std::map<PciAddress, GpuState> states_;
  std::map<PciAddress, MonotonicTime> read_at_;
  SourceStatus status_;
  std::vector<Scope> started_;
  std::vector<std::string> record_;
  int next_pid_ = 100;
  bool wakes_before_look_ = false;
};

}  // namespace stoker::device::probe
