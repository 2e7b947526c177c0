// Composition: cards that have been idle for long are tested by `stoker diag --while-idle`, one at a time, in a process of its
// own; what failed becomes a finding of the agent. Nothing is ever done about it here: what is to be done is proposed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_safety.h"
#include "config/settings.h"
#include "db/diag_db.h"
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

  // Constant after construction.
  const DiagScheduleParts parts_;
  const std::string config_file_;

  // The thread's own.
  diag::IdleWatch watch_;
  std::map<std::string, WallTime> tested_;  // by UUID
  std::string seen_;                        // of diag.db, when it was read last

  std::jthread thread_;
};

}  // namespace stoker::app
