// Device stage: the part of ProbeLifecycle that follows from the time: who is hung, who is asked to
// leave, who is killed, and what is started.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "device/probe/probe_lifecycle.h"

namespace stoker::device::probe {
namespace {

constexpr std::size_t most_probes = 2;

}  // namespace

std::vector<Command> ProbeLifecycle::tick(MonotonicTime now) {
  forgive_own_gap(now);
  if (now >= judge_from_) {
    for (auto& [id, probe] : probes_) check(probe, now);
    for (auto& [id, probe] : probes_) climb(probe, now);
    judge_without_reader(now);
  }
  start_wanted(now);
  for (GpuTold& told : board_.take_told()) commands_.emplace_back(std::move(told));
  tell_status(now);
  return std::exchange(commands_, {});
}

// Who did not run (stopped, or on a machine that stood still) has heard nothing, and what it hears now
// may be old: silence then is no probe's, and each probe gets two heartbeats to say how it stands.
void ProbeLifecycle::forgive_own_gap(MonotonicTime now) {
  const Nanoseconds gap = now - std::exchange(ticked_at_, now);
  if (gap < timing_.heartbeat * 4) return;
  judge_from_ = now + timing_.heartbeat * 2;
  for (auto& [id, probe] : probes_) probe.heard = std::min(now, probe.heard + gap);
}

// Two probes that are stuck leave no place for one that reads: the driver hangs, whatever those two were
// for. Should either go, a new one tries.
void ProbeLifecycle::judge_without_reader(MonotonicTime now) {
  if (driver_hung_ || released_ || stopping_ || probes_.size() < most_probes) return;
  for (const auto& [id, probe] : probes_) {
    if (!probe.stalled || now - probe.asked_at < timing_.stop_wait) return;
  }
  driver_hung_ = true;
  first_stuck_ = 0;
}

void ProbeLifecycle::check(ProbeTrack& probe, MonotonicTime now) {
  if (probe.role == Role::leaving) return;
  const Stall stall = probe.stall(timing_, now);
  check_stopped(probe, stall, now);
  if (probe.stopped_since) return;
  if (probe.role == Role::main) {
    tell_hung(probe, stall);
    if (held_up_by_scout(probe, stall, now)) return;
    if (stall.whole && is_second(probe)) declare_driver_hung(probe);
    if (!stall.whole && probe.proved()) {
      driver_hung_ = after_stall_ = false;
      if (now - probe.started >= timing_.retry_most) backoff_ = Nanoseconds{0};
    }
  }
  if (stall.oldest >= timing_.leave_after) {
    give_up(probe, stall, now);
  } else if (probe.role == Role::scout && probe.proved()) {
    conclude_scout(probe);
    ask(probe, now);
  } else if (probe.role == Role::successor && probe.proved()) {
    conclude_successor(probe, now);
  }
}

// A stopped process is not in the driver: it may be woken, and killed, without harm to the card.
void ProbeLifecycle::check_stopped(ProbeTrack& probe, const Stall& stall, MonotonicTime now) {
  if (stall.silent && (!probe.looked_at || now - *probe.looked_at >= timing_.hung_after / 10)) {
    probe.looked_at = now;
    commands_.emplace_back(LookAtProcess{probe.id});
  }
  if (probe.stopped_since && now - *probe.stopped_since >= timing_.hung_after) {
    commands_.emplace_back(KillIfStopped{probe.id});
  }
}

void ProbeLifecycle::tell_hung(const ProbeTrack& probe, const Stall& stall) {
  for (const PciAddress& gpu : stall.hung) {
    const ProbeTrack::Call& call = probe.calls.at(gpu);
    const std::string name =
        call.getter == Getter::count_ ? "that opens it" : to_string(call.getter);
    board_.hung(gpu, fmt::format("the driver call {} has not returned for {} (probe {})", name,
                                 format_duration(probe.beat_at - call.since), probe.pid));
  }
  const bool silent = stall.silent && probe.alive_at;
  if (!silent && !(probe.init_since && stall.whole)) return;
  const std::string why =
      fmt::format(fmt::runtime(silent ? "probe {} shows no life for {}, and it is not stopped"
                                      : "probe {} waits for the driver to start for {}"),
                  probe.pid, format_duration(stall.oldest));
  for (const PciAddress& gpu : board_.to_open()) {
    if (board_.state(gpu) != GpuState::lost) board_.hung(gpu, why);
  }
}

// In a driver with one big lock, a look at a GPU that hangs stops every call. Then the scout has to go,
// not the running probe; and the next look comes as late as can be.
bool ProbeLifecycle::held_up_by_scout(const ProbeTrack& main, const Stall& stall,
                                      MonotonicTime now) {
  if (!stall.whole || stall.oldest >= timing_.kill_after) return false;
  for (const auto& [id, other] : probes_) {
    if (!other.scouting || (other.calls.empty() && other.nameless.empty())) continue;
    const bool older = other.stalled ? other.ladder_from <= stall.since
                                     : other.stall(timing_, main.beat_at).since <= stall.since;
    if (!older) continue;
    for (const auto& [gpu, call] : other.calls) board_.postpone(gpu);
    if (!other.nameless.empty() && nameless_) {
      nameless_->look_at = now + timing_.hung_retry_most;
      nameless_->delay = timing_.hung_retry_most;
    }
    held_up_until_ = now + timing_.heartbeat * 4;
  }
  // Once it is gone, the next heartbeat says that the calls have come back.
  return now < held_up_until_;
}

// Whether this probe's stall is the second one.
bool ProbeLifecycle::is_second(const ProbeTrack& probe) const {
  if (probe.second && !probe.proved()) return true;
  for (const auto& [id, other] : probes_) {
    if (id != probe.id && other.stalled) return true;
  }
  return false;
}

void ProbeLifecycle::declare_driver_hung(const ProbeTrack& second) {
  if (driver_hung_) return;
  driver_hung_ = true;
  first_stuck_ = 0;
  for (const auto& [id, other] : probes_) {
    // A stuck scout does not keep the node without a reader for good.
    if (id != second.id && other.stalled && other.was_main && first_stuck_ == 0) first_stuck_ = id;
  }
}

void ProbeLifecycle::give_up(ProbeTrack& probe, const Stall& stall, MonotonicTime now) {
  const bool main = probe.role == Role::main;
  const ProbeTrack* running = find_role(Role::main);
  for (const PciAddress& gpu : probe.to_blame(stall)) {
    // A GPU that hangs for a second opener alone stays with the first.
    if (main || running == nullptr || !running->opened.contains(gpu)) {
      board_.exclude(gpu, probe.id, now);
    }
  }
  if (main) {
    if (is_second(probe)) {
      declare_driver_hung(probe);
      start_at_ = now + next_backoff();
    }
    after_stall_ = true;
    ++restarts_;
  }
  leave_nameless_alone(probe, now);
  if (probe.role == Role::scout) conclude_scout(probe);
  probe.stalled = true;
  ask(probe, now);
  probe.ladder_from = stall.since;
}

void ProbeLifecycle::leave_nameless_alone(const ProbeTrack& probe, MonotonicTime now) {
  std::vector<std::uint32_t> indices = probe.nameless_hung(timing_);
  if (indices.empty() || board_.empty()) return;
  const Nanoseconds before = nameless_ ? nameless_->delay : Nanoseconds{0};
  const Nanoseconds delay = before == Nanoseconds{0}
                                ? timing_.hung_retry_first
                                : std::min(before * 2, timing_.hung_retry_most);
  nameless_ = Nameless{std::move(indices), probe.id, now + delay, delay};
}

void ProbeLifecycle::climb(ProbeTrack& probe, MonotonicTime now) {
  if (probe.role != Role::leaving) return;
  // The call that it was asked to leave for may have come back, and a younger one hold it: that one has
  // its time, too.
  const Stall stall = probe.stall(timing_, now);
  if (probe.beat_at > probe.asked_at && !stall.silent && stall.oldest > Nanoseconds{0}) {
    probe.ladder_from = std::max(probe.ladder_from, stall.since);
  }
  const Nanoseconds age = now - probe.ladder_from;
  if (age >= timing_.term_after && !probe.terminated) {
    probe.terminated = true;
    commands_.emplace_back(SignalProbe{probe.id, SIGTERM});
    commands_.emplace_back(SignalProbe{probe.id, SIGCONT});  // a stopped process hears nothing else
  }
  if (age >= timing_.kill_after && !probe.killed) {
    probe.killed = true;
    probe.stalled = true;
    commands_.emplace_back(SignalProbe{probe.id, SIGKILL});
  }
}

void ProbeLifecycle::conclude_scout(const ProbeTrack& probe) {
  for (const PciAddress& gpu : probe.well) {
    board_.readmit(gpu);
    want_successor_ = true;
  }
}

void ProbeLifecycle::conclude_successor(ProbeTrack& probe, MonotonicTime now) {
  ProbeTrack* old = find_role(Role::main);
  if (old != nullptr) {
    for (const PciAddress& gpu : old->well) {
      // It would lose what the running one has.
      if (!probe.well.contains(gpu)) return ask(probe, now);
    }
    ask(*old, now);
  }
  probe.role = Role::main;
  probe.was_main = true;
  take_inventory(probe, now);
  for (const PciAddress& gpu : probe.well) board_.answers(gpu, "answers again");
}

bool ProbeLifecycle::may_start_main(MonotonicTime now) const {
  if (probes_.size() >= most_probes || now < start_at_) return false;
  return !driver_hung_ || first_stuck_ == 0 || !probes_.contains(first_stuck_);
}

Scope ProbeLifecycle::main_scope() const {
  Scope scope;
  scope.no_attach = after_stall_ || !board_.excluded().empty() || nameless_;
  if (scope.no_attach && !board_.empty()) scope.only = board_.to_open();
  return scope;
}

void ProbeLifecycle::start(Role role, Scope scope, MonotonicTime now) {
  ProbeTrack probe;
  probe.id = ++last_id_;
  probe.role = role;
  probe.scope = std::move(scope);
  probe.second = role == Role::main && after_stall_;
  probe.was_main = role == Role::main;
  probe.scouting = role == Role::scout || (role == Role::successor && nameless_);
  probe.started = probe.heard = probe.beat_at = now;
  commands_.emplace_back(StartProbe{probe.id, probe.scope});
  probes_.emplace(probe.id, std::move(probe));
}

void ProbeLifecycle::start_wanted(MonotonicTime now) {
  if (released_ || stopping_) return;
  const ProbeTrack* running = find_role(Role::main);
  if (running == nullptr) {
    if (!may_start_main(now)) return;
    // Once the whole driver hung, no GPU is known to be the cause: all are tried again.
    if (driver_hung_) {
      board_.readmit_all(living_ids());
      if (nameless_ && !probes_.contains(nameless_->holder)) nameless_.reset();
    }
    return start(Role::main, main_scope(), now);
  }
  if (!running->proved() || probes_.size() >= most_probes) return;
  if (want_successor_) {
    want_successor_ = false;
    return start(Role::successor, main_scope(), now);
  }
  std::vector<PciAddress> due = board_.take_due(now, living_ids());
  if (!due.empty()) return start(Role::scout, {true, std::move(due)}, now);
  // What has no address is found only by opening all; that harms GPUs that are to be left alone.
  if (nameless_ && now >= nameless_->look_at && !probes_.contains(nameless_->holder) &&
      board_.excluded().empty()) {
    start(Role::successor, Scope{}, now);
    nameless_->look_at = now + timing_.hung_retry_most;
  }
}

std::set<ProbeId> ProbeLifecycle::living_ids() const {
  std::set<ProbeId> ids;
  for (const auto& [id, probe] : probes_) ids.insert(id);
  return ids;
}

}  // namespace stoker::device::probe
