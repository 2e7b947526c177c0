#include "incident/clerk.h"

#include <algorithm>
#include <utility>

#include "health/node_status.h"
#include "incident/cause.h"
#include "incident/earlier_boot.h"
#include "incident/look.h"

namespace stoker::incident {
namespace {

// A GPU is known by its UUID; until the driver has listed them, an event has only an address.
constexpr Seconds wait_for_gpus{30};
constexpr std::size_t most_waiting = 8192;
// The kernel keeps its lines for days: what is older than this when nothing was ever read is history.
constexpr Seconds news_for{300};
// Where this is not the first start of a boot on a node that was watched before, a boot that ended longer ago is history.
constexpr Seconds earlier_is_news_for{86'400};
// The "source" under which it is kept which boot's end was heard last.
constexpr const char* earlier_boots = "earlier boots";
// The same record's time, reckoned twice from the kernel's own clock.
constexpr Seconds same_time{2};

// Somebody who tries their alerts by writing a line into the kernel log is not the driver.
void be_a_trial(Signal& signal) {
  // A cause of its own: nothing real belongs to it, and it belongs to nothing.
  signal.cause = cause_of_rule("kernel-log-trial", Severity::warning);
  signal.programs.clear();
  signal.severity = std::min(signal.severity, Severity::warning);
  signal.action = Action::observe;
  signal.of_driver = false;
  signal.message += " (written into the kernel log by a program, not by the kernel)";
}

ReadMark first_mark(const EventOrigin& origin, WallTime since) {
  return {.source = origin.source, .boot = origin.boot, .since = since};
}

// The time of an event since the boot: it was reckoned from the kernel's own by the wall clock of now, which may have
// been set since others were.
MonotonicTime since_boot(const Event& event, const Now& now) {
  return now.monotonic + (event.time.value_or(now.wall).since_epoch - now.wall.since_epoch);
}

bool is_ready(const store::Snapshot& snapshot, MonotonicTime now) {
  return !snapshot.gpus.empty() || snapshot.source.state != device::SourceState::starting ||
         now - snapshot.source.since > wait_for_gpus;
}

}  // namespace

void Clerk::set_checks(std::vector<health::Check> checks) {
  if (engine_) return engine_->set_checks(std::move(checks));
  engine_.emplace(std::move(checks));
}

void Clerk::restore(std::vector<Incident> incidents, const std::vector<ReadMark>& marks) {
  for (const Incident& incident : incidents) {
    if (is_over(incident)) continue;
    for (const Finding& held : incident.findings) {
      if (held.entity.kind == EntityKind::port) engine_->remember_port(held.rule, held.entity);
    }
  }
  book_.restore(std::move(incidents));
  for (const auto& mark : marks) marks_[mark.source] = mark;
  new_boot_ = !marks.empty() && std::ranges::find(marks, boot_, &ReadMark::boot) == marks.end();
}

void Clerk::begin_maintenance(std::string who, std::string why, Nanoseconds length, Now now) {
  held_back_.begin({.began = now.wall,
                    .ends = WallTime{now.wall.since_epoch + length},
                    .began_at = now.monotonic,
                    .boot = boot_,
                    .who = std::move(who),
                    .why = std::move(why),
                    .waiting = {}});
}

void Clerk::follow(const std::string& source) {
  if (marks_.contains(source)) return;
  marks_[source] = first_mark({boot_, source}, began_);
  marks_moved_ = true;
}

void Clerk::hear(const std::vector<Event>& events, Now now) {
  if (seen_) return hear_now(events, now);
  // After a restart the log begins with what was heard before it.
  for (const Event& event : events) {
    if (!was_heard(event, marks_, now) || held_back_.expects(event)) waiting_.push_back(event);
  }
  if (waiting_.size() >= most_waiting) hear_now(std::exchange(waiting_, {}), now);
}

bool Clerk::was_heard(const Event& event, const Marks& before, const Now& now) {
  const auto found = before.find(event.origin.source);
  if (found == before.end() || found->second.boot != event.origin.boot) return false;
  return event.origin.offset <= found->second.offset &&
         since_boot(event, now) <= found->second.at + same_time;
}

void Clerk::hear_now(const std::vector<Event>& events, Now now) {
  // One record may hold several events.
  const Marks before = marks_;
  for (const Event& event : events) {
    if (was_heard(event, before, now)) {
      if (held_back_.expects(event)) hear_one(event, false, now);
      continue;
    }
    const WallTime at = event.time.value_or(now.wall);
    const auto found = before.find(event.origin.source);
    ReadMark mark = found == before.end() ? first_mark(event.origin, began_) : found->second;
    if (mark.boot != event.origin.boot) {
      // A boot that began while this node was watched: nobody has seen its first lines.
      mark = first_mark(event.origin, {});
    }
    // What has just happened is no history, whatever the wall clock was when this node was first watched.
    const bool old = now.wall.since_epoch - at.since_epoch > news_for &&
                     at.since_epoch < mark.since.since_epoch - news_for;
    hear_one(event, old, now);
    mark.offset = event.origin.offset;
    mark.at = since_boot(event, now);
    marks_[event.origin.source] = mark;
    marks_moved_ = true;
  }
}

void Clerk::hear_one(const Event& event, bool old, Now now) {
  auto signal = signal_of(event, view_, now.wall);
  if (signal) {
    if (detail(event, "writer") == "program") be_a_trial(*signal);
    if (old) {
      book_.recall(*signal);
    } else if (!held_back_.takes(event, *signal, book_, now)) {
      book_.hear(*signal);
    }
  }
  if (old || !event.pci || !says_recovered(event)) return;
  for (const auto& gpu : view_.gpus) {
    if (gpu.pci != *event.pci) continue;
    const Entity entity{EntityKind::gpu, gpu.uuid};
    book_.hear_recovered(entity, event.time.value_or(now.wall));
    held_back_.recovered(entity, book_);
  }
}

void Clerk::hear_earlier(const PreviousBoot& boot, Now now) {
  ReadMark& mark = marks_[earlier_boots];
  const auto name = name_of(boot);
  if (mark.boot == name) return;
  mark = {.source = earlier_boots, .boot = name, .since = now.wall};
  marks_moved_ = true;
  const bool news = new_boot_ || (boot.ended && now.wall.since_epoch - boot.ended->since_epoch <=
                                                    earlier_is_news_for);
  for (const auto& words : last_words(boot, view_, now.wall)) {
    if (news) {
      book_.hear_of_earlier_boot(words.about, words.lines, now.wall);
      continue;
    }
    for (const auto& line : words.lines) {
      Signal old = words.about;
      old.at = line.at;
      old.evidence = line.text;
      book_.recall(old);
    }
  }
}

void Clerk::look(const store::Snapshot& snapshot, Now now) {
  view_ = view_of(snapshot, boot_);
  if (!seen_ && !is_ready(snapshot, now.monotonic)) return engine_->watch_ports(snapshot);
  seen_ = true;
  hear_now(std::exchange(waiting_, {}), now);
  if (const auto boot = std::exchange(earlier_, {})) hear_earlier(*boot, now);
  held_back_.pass(view_, now, book_);
  checked_ = engine_->evaluate(snapshot);
  std::erase_if(checked_, [](const Finding& one) { return one.state != FindingState::firing; });
  job_words_.add_to(checked_, snapshot, now);
  checked_.insert(checked_.end(), tested_.begin(), tested_.end());
  found_ = health::evaluate(snapshot, expected_, checked_);
  hold_back(found_, now);
  std::vector<Signal> signals;
  for (const Finding& finding : found_) {
    if (auto signal = signal_of(finding, view_, now.wall)) signals.push_back(std::move(*signal));
  }
  book_.find(signals, view_, now.wall);
  job_words_.tell(book_, now);
  book_.pass(now.wall);
  book_.look([&](const Incident& incident) {
    return due_look(incident, {snapshot, view_, events_, now.wall});
  });
}

std::vector<ReadMark> Clerk::take_marks() {
  marks_moved_ = false;
  std::vector<ReadMark> marks;
  for (const auto& [source, mark] : marks_) marks.push_back(mark);
  return marks;
}

}  // namespace stoker::incident
