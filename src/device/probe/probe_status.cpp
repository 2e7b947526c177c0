// Device stage: the part of ProbeLifecycle that says in words how things stand.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/probe/probe_lifecycle.h"

namespace stoker::device::probe {

SourceStatus ProbeLifecycle::status(MonotonicTime now) {
  SourceStatus status;
  status.restarts = restarts_;
  for (const auto& [id, probe] : probes_) {
    status.stuck_probes += probe.stalled && now - probe.asked_at >= timing_.stop_wait ? 1 : 0;
  }
  const ProbeTrack* main = find_role(Role::main);
  if (main != nullptr) status.probe_pid = main->pid;

  if (released_ && probes_.empty()) {
    status.state = SourceState::released;
    status.detail = "the driver was let go on demand; no process of ours holds it";
  } else if (released_) {
    const ProbeTrack& last = probes_.begin()->second;
    const bool late = now - last.asked_at >= timing_.stop_wait;
    status.state = late ? SourceState::failed : SourceState::starting;
    status.detail = fmt::format("letting go of the driver: probe {} has not left yet", last.pid);
  } else if (driver_hung_) {
    status.state = SourceState::driver_hung;
    status.detail =
        "two probes in a row had a driver call that does not return: the whole driver "
        "hangs. Drain this node; reset its GPUs or reboot it";
  } else if (main != nullptr && main->stopped_since) {
    status.state = SourceState::failed;
    status.detail = fmt::format(
        "probe {} was stopped by a signal (SIGSTOP or a debugger); it was "
        "told to go on",
        main->pid);
  } else if (main != nullptr && main->running) {
    status.state = SourceState::running;
    status.detail = unopened_;
    status.unopened_gpus = unopened_gpus_;
    status.forbidden_gpus = forbidden_gpus_;
    describe_openings(*main, status);
    if (main->events_since && main->beat_at - *main->events_since >= timing_.hung_after) {
      status.detail += "The driver's wait for Xids does not return, so none is told. ";
    }
  } else if (main != nullptr && main->second) {
    status.detail = "a call of the last probe did not return; a second one is starting";
  } else if (failure_) {
    status.state = failure_->state;
    status.detail = failure_->detail;
  } else if (main != nullptr && main->stall(timing_, now).whole) {
    status.detail = fmt::format("the driver has not started for more than {} (probe {})",
                                format_duration(timing_.hung_after), main->pid);
  } else if (main == nullptr && probes_.size() > 1) {
    status.state = SourceState::failed;
    status.detail = "two probes do not leave; nothing more is started until one is gone";
  }
  return status;
}

// What is not open is not well: each GPU without an address is counted from the first inventory on.
void ProbeLifecycle::describe_openings(const ProbeTrack& main, SourceStatus& status) const {
  const auto hung = main.nameless_hung(timing_);
  for (const auto& [index, pci] : main.opening) {
    if (pci) continue;
    ++status.unopened_gpus;
    status.detail += std::ranges::find(hung, index) == hung.end()
                         ? fmt::format("GPU number {} is not open yet. ", index)
                         : fmt::format(
                               "GPU number {} can't be opened: the driver's call for it "
                               "has not returned for more than {}. ",
                               index, format_duration(timing_.hung_after));
  }
  if (!nameless_ || !main.scope.only) return;
  for (const std::uint32_t index : nameless_->indices) {
    ++status.unopened_gpus;
    status.detail += fmt::format(
        "GPU number {} can't be opened: the driver's call for it did not return in an earlier "
        "probe, and its address is not known. ",
        index);
  }
}

void ProbeLifecycle::tell_status(MonotonicTime now) {
  SourceStatus next = status(now);
  if (told_ && told_->state == next.state && told_->detail == next.detail &&
      told_->probe_pid == next.probe_pid && told_->stuck_probes == next.stuck_probes &&
      told_->restarts == next.restarts && told_->unopened_gpus == next.unopened_gpus &&
      told_->forbidden_gpus == next.forbidden_gpus) {
    return;
  }
  next.since = told_ && told_->state == next.state ? told_->since : now;
  told_ = next;
  commands_.emplace_back(TellStatus{std::move(next)});
}

}  // namespace stoker::device::probe
