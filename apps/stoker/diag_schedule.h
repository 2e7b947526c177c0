// Composition: cards that have been idle for long are tested by `stoker diag --while-idle`, one at a time, in a process of its
// own; what failed becomes a finding of the agent. Nothing is ever done about it here: what is to be done is proposed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_safety.h"
#include "config/settings.h"
#include "db/diag_db.h"
#include "device/probe/process.h"
#include "diag/idle_watch.h"
#include "model/finding.h"
#include "model/incident.h"
#include "model/test_schedule.h"
#include "store/snapshot.h"

namespace stoker::app {

struct DiagScheduleParts {
  std::function<store::Snapshot()> snapshot;
  std::function<std::vector<Incident>()> incidents;
  std::function<bool()> in_maintenance;
  // What the tests that were kept say of the node's cards, whenever that has changed.
  std::function<void(std::vector<Finding>)> tell;
  // Where each card is, at every look.
  std::function<void(TestSchedule)> show;
  config::Settings settings;  // what is in force
  std::string data;
  std::string program = "/proc/self/exe";
  // A run is asked to end after this, and killed so long after it was asked: it waits itself for two minutes for a call of the
  // driver (docs/specs/probe.md). Our choice.
  Nanoseconds run_within = Seconds(600);
  Nanoseconds killed_after = Seconds(180);
};

// Is there a schedule (diag.idle)?
bool has_diag_schedule(const config::Settings& settings);

class DiagSchedule {
 public:
  explicit DiagSchedule(DiagScheduleParts parts);
  ~DiagSchedule();
  DiagSchedule(const DiagSchedule&) = delete;
  DiagSchedule& operator=(const DiagSchedule&) = delete;

  void start();
  // Asks a test under way to end, and waits two seconds for that; it ends by itself where it takes longer.
  void stop();

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Nanoseconds look_every() const;
  diag::IdleLook look(const store::Snapshot& snapshot);
  void read_results(const store::Snapshot& snapshot);
  void take_rows(const std::string& uuid, const std::vector<db::DiagRow>& rows);
  void take_turns(db::DiagDb& file);
  [[nodiscard]] std::map<std::string, diag::Obstacle> held(const store::Snapshot& snapshot) const;
  // Why the card is wanted now; empty: it may be tested on.
  [[nodiscard]] std::string wanted(const std::string& uuid) const;
  void test(const std::string& uuid, const std::stop_token& stop);

  // How a run went.
  struct Run {
    std::string uuid;
    WallTime began;
    std::string how;        // "exited with status 2"
    std::string told;       // by itself: "given_up process 42"; empty: nothing
    bool is_late = false;   // it had not ended in time
    std::string asked_for;  // for whose sake we asked it to end; empty: we did not
  };
  Run watch(device::probe::Process& child, const std::string& uuid, const std::stop_token& stop);
  void judge(const Run& run);
  [[nodiscard]] TestRun judged(const Run& run, const store::Snapshot& snapshot) const;
  void keep(const std::string& uuid, const std::vector<TestRun>& runs) const;
  void tell(const store::Snapshot& snapshot);
  void show(const diag::IdleLook& seen);

  // Constant after construction.
  const DiagScheduleParts parts_;
  const std::string config_file_;
  const int level_;

  // The thread's own.
  struct Card {
    std::optional<WallTime> tested;  // all tests of the level
    std::vector<TestRun> runs;       // the last of each end, since one that was made
    WallTime over;                   // the last of them
  };
  diag::IdleWatch watch_;
  std::map<std::string, Card> cards_;                // by UUID
  bool has_turns_ = false;                           // those that were kept are in cards_
  std::string running_;                              // the card that is tested; empty: none
  std::string seen_;                                 // of diag.db, when it was read last
  std::string unread_;                               // why diag.db can't be read; empty: it can
  std::vector<Finding> failed_;                      // by the rows of diag.db
  std::map<std::string, MonotonicTime> not_before_;  // by UUID

  std::jthread thread_;
};

}  // namespace stoker::app
