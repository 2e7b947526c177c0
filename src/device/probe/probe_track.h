// Device stage: what the supervision knows of one probe process. Times are the agent's own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/probe/gpu_board.h"
#include "device/probe/protocol.h"
#include "device/probe/timing.h"

namespace stoker::device::probe {

enum class Role {
  main,       // what it tells is passed on
  successor,  // opens what main and a scout have; takes over once each GPU has given a reading
  scout,      // looks whether lost or hung GPUs are well again, and leaves
  leaving,    // asked to leave
};

// How a probe stands in the driver.
struct Stall {
  Nanoseconds oldest{0};         // age of the oldest call under way
  MonotonicTime since;           // when that call began
  bool whole = false;            // hung as a whole: starting, silent, or every GPU
  bool silent = false;           // nothing was heard: no thread of it runs
  std::vector<PciAddress> hung;  // GPUs whose call is older than hung_after
};

struct ProbeTrack {
  struct Call {
    Getter getter = Getter::count_;
    MonotonicTime since;
  };

  ProbeId id = 0;
  int pid = 0;
  Role role = Role::main;
  Scope scope;
  bool second = false;    // started because another stalled: if it stalls too, the driver is hung
  bool scouting = false;  // was started to look at GPUs
  bool was_main = false;  // what it told counted, or was to
  bool running = false;   // the driver has started
  bool listed = false;    // its inventory has come
  MonotonicTime started;
  MonotonicTime heard;    // the last message of any kind
  MonotonicTime beat_at;  // the last heartbeat

  std::optional<MonotonicTime> init_since;
  std::optional<MonotonicTime> events_since;
  std::map<PciAddress, Call> calls;                 // under way, as of the last heartbeat
  std::map<std::uint32_t, MonotonicTime> nameless;  // the same, of GPUs being opened by index
  std::size_t gpu_threads = 0;                      // GPUs open or being opened, as of then
  std::set<PciAddress> opened;
  std::map<PciAddress, std::uint32_t> opened_at;  // NVML's indices of them
  std::set<PciAddress> waiting;                   // opened, and nothing read yet
  std::set<PciAddress> well;                      // gave readings, and none that says lost
  std::vector<Unopened> unopened;
  std::map<std::uint32_t, std::optional<PciAddress>>
      opening;  // by index; with its address if known

  std::optional<MonotonicTime> looked_at;
  std::optional<MonotonicTime> alive_at;       // silent, and looked at: not stopped
  std::optional<MonotonicTime> stopped_since;  // somebody stopped it (SIGSTOP)

  // Once leaving: when the call that it is stuck in began, or when it was asked.
  bool stalled = false;
  MonotonicTime ladder_from;
  MonotonicTime asked_at;
  bool terminated = false;
  bool killed = false;

  // Every GPU that it was to open is open or refused, and each open one has given a reading.
  [[nodiscard]] bool proved() const {
    return running && listed && opening.empty() && waiting.empty();
  }
  // GPUs whose opening does not return, and whose address is not known.
  [[nodiscard]] std::vector<std::uint32_t> nameless_hung(const Timing& timing) const;
  [[nodiscard]] Stall stall(const Timing& timing, MonotonicTime now) const;
  void take(const Heartbeat& beat, MonotonicTime now);
  void take(const Inventory& inventory);
  // The GPUs that a stall is put down to: those that hang, but where none answers, only the one whose
  // call is the oldest; the others may just wait for its lock, and are tried again.
  [[nodiscard]] std::vector<PciAddress> to_blame(const Stall& stall) const;
};

}  // namespace stoker::device::probe
