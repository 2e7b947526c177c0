// Device stage: what to do about probes, as a pure function of what was heard and of the time
// (docs/specs/probe.md, "When a driver call doesn't return"). supervisor.cpp does it.
//
// Call older than   10 s  the GPU is told hung; nobody is disturbed
//                   45 s  the probe is asked to leave; a second one starts and opens
//                         only the other GPUs, by PCI address (where no GPU answers: all but the
//                         one whose call is the oldest, since the rest may wait for its lock)
//                   60 s  SIGTERM
//                  120 s  SIGKILL; what does not die then is left unreaped and counted
// A second probe that stalls too - as a whole for 10 s, or in any call for 45 s - makes the verdict
// "driver hung": nothing more starts until the first is gone or the driver was loaded anew.
// There are never more than two probes, so never more than two stuck ones.
//
// A GPU that was lost or hung comes back through a scout, a second probe that opens that GPU alone;
// when the scout has a reading of it, a successor opens everything, and takes over from the running
// probe once it has a reading of each GPU. So nothing else goes stale meanwhile.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "device/probe/gpu_board.h"
#include "device/probe/probe_track.h"
#include "device/probe/protocol.h"
#include "device/probe/timing.h"

namespace stoker::device::probe {

// What the shell shall do. StartProbe is answered by started() or start_failed() before the next tick.
struct StartProbe {
  ProbeId probe = 0;
  Scope scope;
};
struct AskToLeave {
  ProbeId probe = 0;
};
struct SignalProbe {
  ProbeId probe = 0;
  int number = 0;
};
// Answered by looked(): is the process stopped?
struct LookAtProcess {
  ProbeId probe = 0;
};
// The process was found stopped a while ago. Answered by looked() with what is so now; only if it is
// stopped still, it gets SIGKILL.
struct KillIfStopped {
  ProbeId probe = 0;
};
// Pass on the driver and inventory of this probe, and from now on everything that it tells. GPUs
// `left_alone` are there too, though this probe does not open them.
struct TellInventory {
  ProbeId probe = 0;
  std::vector<PciAddress> left_alone;
};
struct TellStatus {
  SourceStatus status;
};
using Command = std::variant<StartProbe, AskToLeave, SignalProbe, LookAtProcess, KillIfStopped,
                             TellInventory, TellStatus, GpuTold>;

class ProbeLifecycle {
 public:
  ProbeLifecycle(const Timing& timing, MonotonicTime now);

  // What happened. Of a probe that is gone or unknown: ignored.
  // Something has come from it and is about to be read: before any of it is judged.
  void heard_anything(ProbeId id, MonotonicTime now);
  void started(ProbeId probe, int pid, MonotonicTime now);
  void start_failed(ProbeId probe, const std::string& why, MonotonicTime now);
  void heard(ProbeId id, const InitResult& result, MonotonicTime now);
  void heard(ProbeId id, const Inventory& inventory, MonotonicTime now);
  void heard(ProbeId id, const Readings& readings, MonotonicTime now);
  void heard(ProbeId id, const Heartbeat& beat, MonotonicTime now);
  // Something that is no message of this protocol: it is asked to leave.
  void heard_nonsense(ProbeId id, const std::string& what, MonotonicTime now);
  void looked(ProbeId id, bool stopped, MonotonicTime now);
  void exited(ProbeId id, const std::string& how, MonotonicTime now);
  void driver_reloaded(MonotonicTime now);
  void release(MonotonicTime now);
  void resume(MonotonicTime now);
  void stop(MonotonicTime now);

  // Decides, and returns what is to be done since the last call, in order. Call it after each batch
  // of events and at least once a heartbeat.
  std::vector<Command> tick(MonotonicTime now);

  // Whose readings are passed on; 0: nobody's.
  [[nodiscard]] ProbeId main() const;
  // Whether it matters if the driver was loaded anew: nothing is read, or some GPU is left alone.
  [[nodiscard]] bool wants_driver() const;
  [[nodiscard]] std::size_t living() const { return probes_.size(); }

 private:
  struct Failure {
    SourceState state = SourceState::failed;
    std::string detail;
  };

  // GPUs that are opened by index and do not open: without an address, nobody can leave just them
  // alone. Probes open what is known by address, until a look at all finds each open or refused.
  struct Nameless {
    std::vector<std::uint32_t> indices;
    ProbeId holder = 0;
    MonotonicTime look_at;
    Nanoseconds delay{0};
  };

  // probe_lifecycle.cpp: events
  ProbeTrack* find(ProbeId probe, MonotonicTime now);
  ProbeTrack* find_role(Role role);
  void take_inventory(const ProbeTrack& probe, MonotonicTime now);
  void name_openings(ProbeTrack& probe) const;
  void take_unopened(const ProbeTrack& probe);
  void fail_main(ProbeTrack& probe, Failure failure, MonotonicTime now);
  void main_died(const ProbeTrack& probe, const std::string& how, MonotonicTime now);
  void ask(ProbeTrack& probe, MonotonicTime ladder_from);
  void ask_all(MonotonicTime now);
  void leave_to_scouts(const ProbeTrack& successor, MonotonicTime now);
  Nanoseconds next_backoff();

  // probe_decisions.cpp: what follows from the time
  void forgive_own_gap(MonotonicTime now);
  void judge_without_reader(MonotonicTime now);
  void check(ProbeTrack& probe, MonotonicTime now);
  void check_stopped(ProbeTrack& probe, const Stall& stall, MonotonicTime now);
  void tell_hung(const ProbeTrack& probe, const Stall& stall);
  void give_up(ProbeTrack& probe, const Stall& stall, MonotonicTime now);
  void climb(ProbeTrack& probe, MonotonicTime now);
  void leave_nameless_alone(const ProbeTrack& probe, MonotonicTime now);
  void conclude_scout(const ProbeTrack& probe);
  void conclude_successor(ProbeTrack& probe, MonotonicTime now);
  void start_wanted(MonotonicTime now);
  void start(Role role, Scope scope, MonotonicTime now);
  [[nodiscard]] bool may_start_main(MonotonicTime now) const;
  bool held_up_by_scout(const ProbeTrack& main, const Stall& stall, MonotonicTime now);
  [[nodiscard]] bool is_second(const ProbeTrack& probe) const;
  [[nodiscard]] Scope main_scope() const;
  [[nodiscard]] std::set<ProbeId> living_ids() const;
  void declare_driver_hung(const ProbeTrack& second);

  // probe_status.cpp
  [[nodiscard]] SourceStatus status(MonotonicTime now);
  void describe_openings(const ProbeTrack& main, SourceStatus& status) const;
  void tell_status(MonotonicTime now);

  const Timing timing_;
  std::map<ProbeId, ProbeTrack> probes_;  // living processes
  GpuBoard board_;
  std::vector<Command> commands_;

  ProbeId last_id_ = 0;
  bool released_ = false;
  bool stopping_ = false;
  bool after_stall_ = false;  // the next main is a second one
  bool want_successor_ = false;
  bool driver_hung_ = false;
  ProbeId first_stuck_ = 0;  // of the verdict: which process has to be gone; 0: any
  MonotonicTime ticked_at_;
  MonotonicTime judge_from_;     // after a gap of our own: not before
  MonotonicTime held_up_until_;  // main waits for a scout to be gone
  MonotonicTime start_at_;       // not before
  Nanoseconds backoff_{0};
  std::optional<Failure> failure_;  // why the last main could not run; none once one does
  std::string unopened_;            // GPUs that are there and can't be opened
  int unopened_gpus_ = 0;
  int forbidden_gpus_ = 0;  // of these
  std::optional<Nameless> nameless_;
  std::uint64_t restarts_ = 0;
  std::optional<SourceStatus> told_;
};

}  // namespace stoker::device::probe
