// Composition: cards that have been idle for long are tested by `stoker diag --while-idle`, one at a time, in a process of its
// own; what failed becomes a finding of the agent. Nothing is ever done about it here: what is to be done is proposed.
#pragma once

#include <functional>
#include <map>
#include <set>
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
#include "store/snapshot.h"

namespace stoker::app {

struct DiagScheduleParts {
  std::function<store::Snapshot()> snapshot;
  std::function<std::vector<Incident>()> incidents;
  std::function<bool()> in_maintenance;
  // What the tests that were kept say of the node's cards, whenever that has changed.
  std::function<void(std::vector<Finding>)> tell;
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

// What of a card's kept results says that it is not sound: each test whose last verdict is a fail. `rows`: newest first.
// Level 1 is left out, for the agent's own checks find that. nullopt: nothing.
std::optional<Finding> failed_tests(const store::GpuSnapshot& gpu,
                                    const std::vector<db::DiagRow>& rows);

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
  void read_results(const store::Snapshot& snapshot);
  std::set<std::string> held(const store::Snapshot& snapshot) const;
  bool may_go_on(const std::string& uuid) const;
  void test(const std::string& uuid, const std::stop_token& stop);

  // How a run went.
  struct Run {
    std::string uuid;
    WallTime began;
    std::string how;        // "exited with status 2"
    bool is_late = false;   // it had not ended in time
    bool is_asked = false;  // to end, by us, for somebody else's sake
  };
  Run watch(device::probe::Process& child, const std::string& uuid, const std::stop_token& stop);
  void judge(const Run& run);
  std::vector<db::DiagRow> rows_since(const store::GpuSnapshot& gpu, WallTime began) const;
  void not_made(const Run& run, const store::GpuSnapshot& gpu, const std::string& why);
  void note_tested(const std::string& uuid, const std::vector<db::DiagRow>& rows);
  void tell();

  // Constant after construction.
  const DiagScheduleParts parts_;
  const std::string config_file_;

  // The thread's own.
  diag::IdleWatch watch_;
  std::map<std::string, WallTime> tested_;  // by UUID
  std::string seen_;                        // of diag.db, when it was read last
  std::string unread_;                      // why diag.db can't be read; empty: it can
  std::vector<Finding> failed_;             // by the rows of diag.db
  // Of runs that have no rows, or none that say something: by UUID, until a test is made.
  struct Trouble {
    int times = 0;
    WallTime at;
    Finding finding;
  };
  std::map<std::string, Trouble> troubles_;
  std::map<std::string, MonotonicTime> not_before_;  // by UUID

  std::jthread thread_;
};

}  // namespace stoker::app
