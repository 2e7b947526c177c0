// Composition: the node's incidents: what is found and what is heard goes to the clerk, what changes into the
// database. An event is in the book, and to be asked for, before on_events() returns; a thread writes it down, so that a
// slow disk delays nobody. What was not written when the process dies is read again from its log: incidents and how
// far the log was read are written together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_safety.h"
#include "db/incident_db.h"
#include "health/checks.h"
#include "health/expected.h"
#include "incident/clerk.h"
#include "maintenance_file.h"
#include "model/event.h"
#include "model/event_source.h"
#include "store/snapshot.h"

namespace stoker::app {

struct IncidentParts {
  const Clock& clock;
  std::function<store::Snapshot()> snapshot;
  std::string file;              // empty: nothing outlives the process (a replay)
  std::string maintenance_file;  // likewise
  std::string boot;              // boot id; empty: not known
  std::string log;  // the source of events that is followed, "/dev/kmsg"; empty: none is
  health::Expected expected;
  health::CheckSet checks;
  // The last events, oldest first; not set: none are kept.
  std::function<std::vector<Event>()> events;
  // Asked before each write; not set: nothing speaks against it.
  std::function<Result<void>()> may_save;
  // Called in the desk's thread with what was written, or could not be.
  std::function<void(const std::vector<Incident>&)> on_saved;
};

class IncidentDesk {
 public:
  // Reads what was kept. A file that can't be read is put aside, or left where it can't be, and problems() says so.
  explicit IncidentDesk(IncidentParts parts);
  ~IncidentDesk();
  IncidentDesk(const IncidentDesk&) = delete;
  IncidentDesk& operator=(const IncidentDesk&) = delete;

  // Looks at the node every second, and writes what changed at once, each in a thread of its own: a disk that does not
  // answer stops no look.
  void start();
  void stop();

  // In the order of their source. Those that were heard before a restart are left out; those of before the first start
  // open nothing.
  void on_events(const std::vector<Event>& events) EXCLUDES(mutex_);
  // A source that is followed from now on; what it told before is old, where nothing of it was kept.
  void on_source(const EventSource& source) EXCLUDES(mutex_);
  // What the boot before this one said last.
  void on_previous_boot(PreviousBoot boot) EXCLUDES(mutex_);
  // What was found out about a job that looks hung.
  void on_job_word(JobWord word) EXCLUDES(mutex_);
  // One look, as the thread has every second.
  void look() EXCLUDES(mutex_);
  // Writes what has changed since the last time. unavailable, io: it is tried again at the next look, and problems() says so.
  Result<void> save() EXCLUDES(file_mutex_, mutex_);
  void set_expected(health::Expected expected) EXCLUDES(mutex_);
  // What is remembered of a check that stays as it was is kept.
  void set_checks(health::CheckSet checks) EXCLUDES(mutex_);
  // What active tests found of the cards, until it is set anew.
  void set_tested(std::vector<Finding> found) EXCLUDES(mutex_);
  // What the checks found at the last look, and is more than suspected.
  [[nodiscard]] std::vector<Finding> checked() const EXCLUDES(mutex_);

  // The one with this id, or all, oldest first.
  [[nodiscard]] std::vector<Incident> kept(std::optional<std::uint64_t> id = {}) const
      EXCLUDES(mutex_);
  // Written when it returns without an error. unavailable, io: it is changed, and a restart would forget it.
  Result<Incident> request(std::uint64_t id, const incident::Request& request)
      EXCLUDES(file_mutex_, mutex_);
  // The planned maintenance that holds something back now.
  [[nodiscard]] std::optional<MaintenanceNow> maintenance() const EXCLUDES(mutex_);
  // Begins or ends one; written when it returns. not_found: there is none to end.
  Result<std::optional<MaintenanceNow>> change_maintenance(const MaintenanceRequest& request)
      EXCLUDES(file_mutex_, mutex_);
  // Makes suspicions of the findings that it holds back.
  void hold_back(std::vector<Finding>& findings) const EXCLUDES(mutex_);
  // What was sent of them before a restart.
  [[nodiscard]] std::vector<SentMark> sent() const EXCLUDES(mutex_);
  void on_sent(const SentMark& sent) EXCLUDES(file_mutex_);
  // The last incident before this target of messages was there; for one that is new, the last that there is.
  std::uint64_t before_target(const std::string& name) EXCLUDES(file_mutex_, mutex_);
  // What is wrong with keeping them, and with the files of checks.
  [[nodiscard]] std::vector<Finding> problems() const EXCLUDES(mutex_);

 private:
  void open_file() REQUIRES(file_mutex_, mutex_);
  // Before the incidents: what waits for the end of a maintenance counts as read there.
  Result<void> keep_maintenance() REQUIRES(file_mutex_) EXCLUDES(mutex_);
  void run_looks(const std::stop_token& stop);
  void run_writes(const std::stop_token& stop);
  // Takes what changed to be written.
  void collect() REQUIRES(mutex_);
  void tell_saved(const Result<void>& saved, std::map<std::uint64_t, Incident> written)
      REQUIRES(mutex_);

  // Constant after construction.
  const IncidentParts parts_;
  const WallTime began_;

  // Before mutex_, where both are held.
  Mutex file_mutex_;
  std::unique_ptr<db::IncidentDb> file_ GUARDED_BY(file_mutex_);  // nullptr: see problem_
  MaintenanceFile maintenance_file_ GUARDED_BY(file_mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  incident::Clerk clerk_ GUARDED_BY(mutex_);
  std::vector<Finding> check_problems_ GUARDED_BY(mutex_);
  std::vector<SentMark> sent_ GUARDED_BY(mutex_);  // as they were read
  std::map<std::string, std::uint64_t> targets_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, Incident> unsaved_ GUARDED_BY(mutex_);
  std::optional<Finding> put_aside_ GUARDED_BY(mutex_);
  std::optional<Finding> problem_ GUARDED_BY(mutex_);
  std::optional<Finding> maintenance_problem_ GUARDED_BY(mutex_);

  std::jthread looks_;
  std::jthread writes_;  // alone waits for a disk
};

}  // namespace stoker::app
