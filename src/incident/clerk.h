// Incident stage: keeps the book of one node. Events and snapshots go in, in the order in which they came; what was
// heard before is not heard again, and at each look the checks find what they find. Pure: the caller says what time it
// is, so a recorded week and a scenario go the same way as the node that is watched now. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "health/check_engine.h"
#include "health/expected.h"
#include "incident/book.h"
#include "incident/hold_back.h"
#include "incident/job_words.h"
#include "incident/now.h"
#include "incident/signal.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/incident.h"
#include "model/previous_boot.h"
#include "store/snapshot.h"

namespace stoker::incident {

class Clerk {
 public:
  // `boot`: boot id; empty: not known. `began`: what is told of long before is old where nothing was kept. `booted`: when
  // the boot began, by the monotonic clock: zero but in a story of several boots.
  Clerk(std::string boot, WallTime began, MonotonicTime booted = {})
      : boot_(std::move(boot)), began_(began), held_back_(boot_, booted) {}

  void set_expected(health::Expected expected) { expected_ = std::move(expected); }
  // The last events, oldest first, for a look at what an incident is about; not set: none.
  void set_events(std::function<std::vector<Event>()> events) { events_ = std::move(events); }
  // They begin anew: what the earlier ones remembered is forgotten.
  void set_checks(std::vector<health::Check> checks);
  // What active tests found, until it is set anew: at each look it is found as what the checks find is.
  void set_tested(std::vector<Finding> found) { tested_ = std::move(found); }
  // What was kept before a restart.
  void restore(std::vector<Incident> incidents, const std::vector<ReadMark>& marks);
  // A planned maintenance that was kept before a restart.
  void restore(Maintenance mark) { held_back_.restore(std::move(mark)); }
  // From now on, for so long.
  void begin_maintenance(std::string who, std::string why, Nanoseconds length, Now now);
  // What was held back, and still holds, is told.
  void end_maintenance() { held_back_.end(book_); }
  // nullopt: none, or it is over.
  [[nodiscard]] const std::optional<Maintenance>& maintenance() const { return held_back_.mark(); }
  // Until when it holds things back, by the wall clock of now; nullopt: it does not.
  [[nodiscard]] std::optional<WallTime> held_until(Now now) const { return held_back_.until(now); }
  // Makes suspicions of those that would open an incident, and are held back.
  void hold_back(std::vector<Finding>& findings, Now now) const {
    held_back_.hold(findings, book_, view_, now);
  }
  // What the boot before this one said last. Told once, at the first look, where it ended uncleanly; nothing more comes
  // of it.
  void hear(PreviousBoot boot) { earlier_ = std::move(boot); }
  // What was found out about a job that looks hung.
  void hear(JobWord word, Now now) { job_words_.hear(std::move(word), now); }
  // This source is read from now on; what it told before is old, where nothing was kept.
  void follow(const std::string& source);

  // In the order of their source. Those that were heard before a restart are left out; those of before the first start
  // open nothing. They wait while the node's GPUs are not known.
  void hear(const std::vector<Event>& events, Now now);
  void look(const store::Snapshot& snapshot, Now now);

  [[nodiscard]] Book& book() { return book_; }
  [[nodiscard]] const Book& book() const { return book_; }
  // All that was found at the last look.
  [[nodiscard]] const std::vector<Finding>& found() const { return found_; }
  // Of that, what the checks found and is more than suspected, and what active tests did.
  [[nodiscard]] const std::vector<Finding>& checked() const { return checked_; }

  // How far each source was read.
  [[nodiscard]] bool marks_moved() const { return marks_moved_; }
  std::vector<ReadMark> take_marks();
  // They were not kept after all.
  void move_marks() { marks_moved_ = true; }

 private:
  using Marks = std::map<std::string, ReadMark>;  // by source

  static bool was_heard(const Event& event, const Marks& before, const Now& now);
  void hear_now(const std::vector<Event>& events, Now now);
  void hear_one(const Event& event, bool old, Now now);
  void hear_earlier(const PreviousBoot& boot, Now now);

  // Constant after construction.
  const std::string boot_;
  const WallTime began_;

  Book book_;
  HoldBack held_back_;
  JobWords job_words_;
  NodeView view_;
  bool seen_ = false;                    // has view_ got the node's GPUs?
  std::vector<Event> waiting_;           // for that
  std::optional<PreviousBoot> earlier_;  // likewise
  bool new_boot_ = false;                // of a node that was watched before
  health::Expected expected_;
  std::optional<health::CheckEngine> engine_{std::vector<health::Check>()};
  std::function<std::vector<Event>()> events_;
  std::vector<Finding> found_;
  std::vector<Finding> checked_;
  std::vector<Finding> tested_;
  Marks marks_;
  bool marks_moved_ = false;
};

}  // namespace stoker::incident
