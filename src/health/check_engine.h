// Health stage: the checks, evaluated over and over. What they find follows from the snapshots alone, in the order
// in which they came: no clock, no I/O. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "health/check.h"
#include "health/check_text.h"
#include "health/hold.h"
#include "health/measure.h"
#include "health/port_checks.h"
#include "health/trend.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::health {

class CheckEngine {
 public:
  // Checks that are not enabled are left out.
  explicit CheckEngine(std::vector<Check> checks);

  // What holds: firing, or suspect while it has not held for long enough; worst first, then by check and entity.
  // A condition that can't be judged, for what it needs is not known, neither fires nor ends; a finding that fired
  // before says so. `snapshot` is no older than the one before.
  std::vector<Finding> evaluate(const store::Snapshot& snapshot);

  // Of a node that is not judged yet: what its ports count meanwhile is not lost.
  void watch_ports(const store::Snapshot& snapshot) { ports_.watch(snapshot); }

  // From now on these, of which those that are enabled. What is remembered of a check that stays as it was is kept.
  void set_checks(std::vector<Check> checks);
  [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }
  // Of before a restart: this was found of an RDMA port.
  void remember_port(const std::string& rule, const Entity& port) { ports_.remember(rule, port); }
  // Of which something is remembered: those of the last snapshot.
  [[nodiscard]] std::size_t entities() const { return memory_.size(); }

 private:
  // What one check remembers of one entity.
  struct Memory {
    Trend trend;
    Hold hold;
    Seen seen;  // while it last held
  };
  struct EntityMemory {
    MonotonicTime first_seen;
    std::map<std::size_t, Memory> checks;  // by index into checks_
    bool present = false;                  // in this snapshot
  };
  // One check and one of its subjects, in this snapshot.
  struct Case {
    const Subject* subject = nullptr;
    EntityMemory* entity = nullptr;
    Memory* memory = nullptr;
    Measured value;
    Measured limit;
    Truth meanwhile = Truth::yes;
    Truth truth = Truth::unknown;
  };
  struct Now;

  // Has any link a reading, or a reason for none, that it did not have at the last look that was at links? Is there a
  // finding about one, or a suspicion, that goes on by time alone? Else a look at them, which are twenty times as many as
  // GPUs and are read every 15 s, would find what the last one found.
  bool must_look_at_links(const store::Snapshot& snapshot);
  void remember(const Now& now);
  void run(std::size_t index, const Now& now, std::vector<Finding>& out);
  void run_for_all_gpus(std::size_t index, const Now& now, std::vector<Finding>& out);
  static void measure(const Check& check, const Now& now, Case& one);
  static void compare_with_peers(const Check& check, std::vector<Case>& cases);
  void conclude(const Check& check, const Now& now, Case& one, std::vector<Finding>& out);

  std::vector<Check> checks_;
  bool links_alone_;  // no check of links asks for what is not theirs
  std::map<Entity, EntityMemory> memory_;
  std::uint64_t links_seen_ = 0;  // what the links read, as one number
  bool links_held_ = false;       // a check of links fires or is suspect
  PortChecks ports_;
};

}  // namespace stoker::health
