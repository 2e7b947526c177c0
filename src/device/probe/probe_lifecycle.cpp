#include "device/probe/probe_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace stoker::device::probe {

ProbeLifecycle::ProbeLifecycle(const Timing& timing, MonotonicTime now)
    : timing_(timing), board_(timing), ticked_at_(now), judge_from_(now), start_at_(now) {}

ProbeId ProbeLifecycle::main() const {
  for (const auto& [id, probe] : probes_) {
    if (probe.role == Role::main) return id;
  }
  return 0;
}

bool ProbeLifecycle::wants_driver() const {
  return driver_hung_ || main() == 0 || !board_.excluded().empty() || nameless_.has_value();
}

ProbeTrack* ProbeLifecycle::find(ProbeId probe, MonotonicTime now) {
  const auto found = probes_.find(probe);
  if (found == probes_.end()) return nullptr;
  found->second.heard = now;
  return &found->second;
}

ProbeTrack* ProbeLifecycle::find_role(Role role) {
  for (auto& [id, probe] : probes_) {
    if (probe.role == role) return &probe;
  }
  return nullptr;
}

void ProbeLifecycle::heard_anything(ProbeId id, MonotonicTime now) { find(id, now); }

void ProbeLifecycle::started(ProbeId probe, int pid, MonotonicTime now) {
  if (ProbeTrack* track = find(probe, now)) {
    track->pid = pid;
    track->started = track->beat_at = now;
  }
}

void ProbeLifecycle::start_failed(ProbeId probe, const std::string& why, MonotonicTime now) {
  const auto found = probes_.find(probe);
  if (found == probes_.end()) return;
  const ProbeTrack failed = std::move(found->second);
  probes_.erase(found);
  if (failed.role == Role::main) {
    failure_ = Failure{SourceState::failed, "the probe process can't be started: " + why};
    start_at_ = now + next_backoff();
  }
  if (failed.role == Role::successor) leave_to_scouts(failed, now);
}

Nanoseconds ProbeLifecycle::next_backoff() {
  backoff_ =
      backoff_ == Nanoseconds{0} ? timing_.retry_first : std::min(backoff_ * 2, timing_.retry_most);
  return backoff_;
}

void ProbeLifecycle::ask(ProbeTrack& probe, MonotonicTime ladder_from) {
  if (probe.role == Role::leaving) return;
  if (probe.role == Role::successor) leave_to_scouts(probe, ladder_from);
  probe.role = Role::leaving;
  probe.ladder_from = ladder_from;
  probe.asked_at = ladder_from;
  commands_.emplace_back(AskToLeave{probe.id});
}

// A successor that does not take over: what it alone would have opened is looked at again later.
void ProbeLifecycle::leave_to_scouts(const ProbeTrack& successor, MonotonicTime now) {
  const ProbeTrack* running = find_role(Role::main);
  if (running == nullptr) return;
  for (const PciAddress& gpu : board_.to_open()) {
    if (!running->opened.contains(gpu) && board_.state(gpu) != GpuState::lost) {
      board_.exclude(gpu, successor.id, now);
    }
  }
}

void ProbeLifecycle::ask_all(MonotonicTime now) {
  // A call may begin until the asking is heard, and has its time too.
  for (auto& [id, probe] : probes_) ask(probe, now + timing_.heartbeat);
}

void ProbeLifecycle::fail_main(ProbeTrack& probe, Failure failure, MonotonicTime now) {
  failure_ = std::move(failure);
  start_at_ = now + next_backoff();
  ask(probe, now);
}

void ProbeLifecycle::heard(ProbeId id, const InitResult& result, MonotonicTime now) {
  ProbeTrack* probe = find(id, now);
  if (probe == nullptr) return;
  if (result.state == SourceState::running) {
    probe->running = true;
    if (probe->role == Role::main) failure_.reset();
    return;
  }
  if (probe->role == Role::main) {
    fail_main(*probe, {result.state, result.detail}, now);
  } else {
    ask(*probe, now);
  }
}

void ProbeLifecycle::heard(ProbeId id, const Inventory& inventory, MonotonicTime now) {
  ProbeTrack* probe = find(id, now);
  if (probe == nullptr) return;
  probe->take(inventory);
  name_openings(*probe);
  if (probe->role == Role::main) take_inventory(*probe, now);
}

// A GPU that had this index before, and is not open under another one, is the one that is meant.
void ProbeLifecycle::name_openings(ProbeTrack& probe) const {
  for (auto& [index, pci] : probe.opening) {
    if (pci) continue;
    const auto known = board_.at_index(index);
    if (known && !probe.opened.contains(*known)) pci = known;
  }
}

void ProbeLifecycle::take_unopened(const ProbeTrack& probe) {
  unopened_.clear();
  unopened_gpus_ = forbidden_gpus_ = 0;
  for (const Unopened& gpu : probe.unopened) {
    if (gpu.pci && gpu.reason == Reason::lost) continue;
    ++unopened_gpus_;
    if (gpu.reason == Reason::no_permission) ++forbidden_gpus_;
    unopened_ += fmt::format("GPU {} can't be opened: {}. ",
                             gpu.pci ? gpu.pci->sysfs() : std::to_string(gpu.index), gpu.detail);
  }
}

void ProbeLifecycle::take_inventory(const ProbeTrack& probe, MonotonicTime now) {
  take_unopened(probe);
  std::map<PciAddress, std::string> why_lost;
  std::set<PciAddress> there = probe.opened;  // or refused to us, or being opened
  bool nameless = false;
  std::vector<PciAddress> told_too = board_.excluded();
  for (const Unopened& gpu : probe.unopened) {
    if (!gpu.pci) continue;
    if (gpu.reason == Reason::lost) {
      why_lost[*gpu.pci] = gpu.detail;
    } else {
      there.insert(*gpu.pci);
    }
  }
  for (const auto& [index, pci] : probe.opening) {
    nameless = nameless || !pci;
    if (!pci) continue;
    there.insert(*pci);
    told_too.push_back(*pci);
  }
  for (const auto& [gpu, index] : probe.opened_at) board_.add(gpu, index);
  for (const auto& [gpu, detail] : why_lost) board_.add(gpu);
  if (!probe.scope.only && probe.opening.empty()) nameless_.reset();
  commands_.emplace_back(TellInventory{probe.id, std::move(told_too)});
  for (const PciAddress& gpu : board_.to_open()) {
    if (there.contains(gpu)) continue;
    const auto reason = why_lost.find(gpu);
    // One that is being opened may be this one.
    if (reason == why_lost.end() && nameless) continue;
    board_.lost(gpu,
                reason == why_lost.end() ? "the driver no longer lists this GPU" : reason->second,
                now);
  }
}

void ProbeLifecycle::heard(ProbeId id, const Readings& readings, MonotonicTime now) {
  ProbeTrack* probe = find(id, now);
  if (probe == nullptr || readings.readings.empty()) return;
  const auto any = [&readings](Reason reason) {
    return std::ranges::any_of(readings.readings, [reason](const TargetReading& reading) {
      return reading.reading.reason == reason;
    });
  };
  const bool lost = any(Reason::lost);
  const bool driver_gone = any(Reason::driver_gone);
  probe->waiting.erase(readings.gpu);
  if (lost || driver_gone) {
    probe->well.erase(readings.gpu);
  } else {
    probe->well.insert(readings.gpu);
  }
  if (probe->role != Role::main) return;
  if (driver_gone) {
    ++restarts_;
    fail_main(*probe, {SourceState::driver_missing, "the driver was unloaded while it was in use"},
              now);
  } else if (lost) {
    board_.lost(readings.gpu,
                "the driver says that this GPU is lost (off the bus, or needs a reset)", now);
  } else {
    board_.answers(readings.gpu, "answers again");
  }
}

void ProbeLifecycle::heard(ProbeId id, const Heartbeat& beat, MonotonicTime now) {
  if (ProbeTrack* probe = find(id, now)) probe->take(beat, now);
}

void ProbeLifecycle::heard_nonsense(ProbeId id, const std::string& what, MonotonicTime now) {
  ProbeTrack* probe = find(id, now);
  if (probe == nullptr) return;
  if (probe->role == Role::main) {
    fail_main(*probe, {SourceState::failed, "the probe process can't be understood: " + what}, now);
  } else {
    ask(*probe, now);
  }
}

void ProbeLifecycle::looked(ProbeId id, bool stopped, MonotonicTime now) {
  const auto found = probes_.find(id);
  if (found == probes_.end()) return;
  ProbeTrack& probe = found->second;
  probe.alive_at = stopped ? std::nullopt : std::optional(now);
  if (!stopped) {
    probe.stopped_since.reset();
  } else if (!probe.stopped_since) {
    probe.stopped_since = now;
    commands_.emplace_back(SignalProbe{id, SIGCONT});
  }
}

void ProbeLifecycle::exited(ProbeId id, const std::string& how, MonotonicTime now) {
  const auto found = probes_.find(id);
  if (found == probes_.end()) return;
  const ProbeTrack probe = std::move(found->second);
  probes_.erase(found);
  if (probe.role == Role::main) main_died(probe, how, now);
  if (probe.role == Role::successor) leave_to_scouts(probe, now);
}

void ProbeLifecycle::main_died(const ProbeTrack& probe, const std::string& how, MonotonicTime now) {
  ++restarts_;
  const bool ran_well = probe.proved() && now - probe.started >= timing_.retry_first;
  if (ran_well) backoff_ = Nanoseconds{0};
  // The first death in a while is followed at once; a probe that keeps dying, ever more slowly.
  start_at_ = ran_well ? now : now + next_backoff();
  const std::string detail = fmt::format("probe {} ended: {}; it is started again", probe.pid, how);
  failure_ = Failure{ran_well ? SourceState::starting : SourceState::failed, detail};
}

void ProbeLifecycle::driver_reloaded(MonotonicTime now) {
  want_successor_ = want_successor_ || !board_.excluded().empty() || nameless_;
  nameless_.reset();
  board_.readmit_all({});
  first_stuck_ = 0;
  start_at_ = now;
  backoff_ = Nanoseconds{0};
}

void ProbeLifecycle::release(MonotonicTime now) {
  released_ = true;
  ask_all(now);
}

void ProbeLifecycle::resume(MonotonicTime now) {
  if (!released_) return;
  released_ = false;
  board_.readmit_all(living_ids());
  if (nameless_ && !probes_.contains(nameless_->holder)) nameless_.reset();
  failure_.reset();
  start_at_ = now;
  backoff_ = Nanoseconds{0};
}

void ProbeLifecycle::stop(MonotonicTime now) {
  stopping_ = true;
  ask_all(now);
}

}  // namespace stoker::device::probe
