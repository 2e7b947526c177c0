// Incident stage: a node watched without threads, by a clock that its caller moves: what a source tells goes through the
// store, at each look the checks and the clerk judge, and the chronicle notes what came of it. The way of the agent,
// for a recording and for a scenario. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "health/check.h"
#include "health/expected.h"
#include "incident/chronicle.h"
#include "incident/clerk.h"
#include "model/event.h"
#include "sample/derive.h"
#include "store/snapshot.h"
#include "store/store.h"

namespace stoker::incident {

struct NodeRunParts {
  MonotonicTime monotonic;  // when it begins
  WallTime wall;
  store::StoreOptions store;
  std::string boot;  // boot id; empty: not known
  health::Expected expected;
  std::vector<health::Check> checks;
};

class NodeRun {
 public:
  explicit NodeRun(NodeRunParts parts);

  [[nodiscard]] const Clock& clock() const { return clock_; }
  // `to` is not before the clock.
  void advance_to(MonotonicTime to);
  // Wall time alone, as an operator or NTP does.
  void set_wall(WallTime to) { clock_.set_wall(to); }

  // Takes what a source tells, and what the node itself does.
  device::Listener& heard() { return node_->derive; }
  store::Store& store() { return node_->store; }
  void hear(const std::vector<Event>& events);
  void look();
  // The agent ends and starts again, in the boot `boot`: incidents and how far each source was read are kept, and
  // nothing else.
  void restart(const std::string& boot);
  // A planned maintenance, which outlives a restart too.
  void begin_maintenance(Nanoseconds length, const std::string& who, const std::string& why);
  void end_maintenance();

  [[nodiscard]] Clerk& clerk() { return *clerk_; }
  [[nodiscard]] const Clerk& clerk() const { return *clerk_; }
  // Of the last look.
  [[nodiscard]] const store::Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const Chronicle& chronicle() const { return chronicle_; }

 private:
  struct Node {
    Node(const Clock& clock, store::StoreOptions options)
        : store(clock, std::move(options)), derive(store) {}
    store::Store store;
    sample::Derive derive;
  };
  void start(const std::string& boot, MonotonicTime booted);
  void note_incidents();

  const NodeRunParts parts_;
  ManualClock clock_;
  std::string boot_;
  MonotonicTime booted_;  // when it began, by a clock that goes on through all boots
  std::unique_ptr<Node> node_;
  std::unique_ptr<Clerk> clerk_;
  store::Snapshot snapshot_;
  Chronicle chronicle_;
};

}  // namespace stoker::incident
