#include "incident/node_run.h"

#include <algorithm>
#include <utility>

namespace stoker::incident {

NodeRun::NodeRun(NodeRunParts parts) : parts_(std::move(parts)) {
  clock_.advance(parts_.monotonic - clock_.monotonic());
  clock_.set_wall(parts_.wall);
  start(parts_.boot, {});
}

void NodeRun::start(const std::string& boot, MonotonicTime booted) {
  boot_ = boot;
  booted_ = booted;
  node_ = std::make_unique<Node>(clock_, parts_.store);
  clerk_ = std::make_unique<Clerk>(boot, clock_.wall(), booted);
  clerk_->set_expected(parts_.expected);
  clerk_->set_checks(parts_.checks);
}

void NodeRun::advance_to(MonotonicTime to) {
  clock_.advance(std::max(to - clock_.monotonic(), Nanoseconds{0}));
}

void NodeRun::hear(const std::vector<Event>& events) {
  clerk_->hear(events, now_of(clock_));
  note_incidents();
}

void NodeRun::look() {
  snapshot_ = node_->store.snapshot();
  clerk_->look(snapshot_, now_of(clock_));
  chronicle_.note(clerk_->found(), clock_.wall());
  note_incidents();
}

void NodeRun::restart(const std::string& boot) {
  auto incidents = clerk_->book().all();
  const auto marks = clerk_->take_marks();
  const auto maintenance = clerk_->maintenance();
  start(boot, boot == boot_ ? booted_ : clock_.monotonic());
  clerk_->restore(std::move(incidents), marks);
  if (maintenance) clerk_->restore(*maintenance);
}

void NodeRun::begin_maintenance(Nanoseconds length, const std::string& who,
                                const std::string& why) {
  clerk_->begin_maintenance(who, why, length, now_of(clock_));
}

void NodeRun::end_maintenance() {
  clerk_->end_maintenance();
  note_incidents();
}

void NodeRun::note_incidents() {
  chronicle_.note_incidents(clerk_->book().take_changed(clock_.wall()), clock_.wall());
}

}  // namespace stoker::incident
