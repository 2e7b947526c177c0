#include "incident_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/sleep.h"
#include "health/node_status.h"
#include "incident/look.h"

namespace stoker::app {
namespace {

constexpr Seconds look_every{1};
// A GPU is known by its UUID; until the driver has listed them, an event has only an address.
constexpr Seconds wait_for_gpus{30};
constexpr std::size_t most_waiting = 8192;
// In a storm one write has what came meanwhile.
constexpr Milliseconds between_writes{20};
// The kernel keeps its lines for days: what is older than this when nothing was ever read is history.
constexpr Seconds news_for{300};
// The same record's time, reckoned twice from the kernel's own clock.
constexpr Seconds same_time{2};

Finding make_problem(const std::string& file, std::string rule, std::string message,
                     const Error& error) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, file};
  finding.message = std::move(message);
  finding.action = Action::fix_config;
  finding.source = "docs/specs/incidents.md";
  finding.evidence.push_back(error.describe());
  return finding;
}

// The database with the files that SQLite keeps beside it. Returns where it is now.
Result<std::string> put_aside(const std::string& file, WallTime now) {
  std::string aside = fmt::format("{}.unreadable-{}", file, format_utc(now));
  std::error_code problem;
  std::filesystem::rename(file, aside, problem);
  if (problem) return fail(ErrorCode::io, fmt::format("rename {}: {}", file, problem.message()));
  for (const char* beside : {"-wal", "-shm"}) {
    std::filesystem::rename(file + beside, aside + beside, problem);
  }
  return aside;
}

// Somebody who tries their alerts by writing a line into the kernel log is not the driver.
void be_a_trial(incident::Signal& signal) {
  // A cause of its own: nothing real belongs to it, and it belongs to nothing.
  signal.cause = incident::cause_of_rule("kernel-log-trial", Severity::warning);
  signal.programs.clear();
  signal.severity = std::min(signal.severity, Severity::warning);
  signal.action = Action::observe;
  signal.of_driver = false;
  signal.message += " (written into the kernel log by a program, not by the kernel)";
}

db::ReadMark first_mark(const EventOrigin& origin, WallTime since) {
  return {.source = origin.source, .boot = origin.boot, .since = since};
}

bool is_ready(const store::Snapshot& snapshot, MonotonicTime now) {
  return !snapshot.gpus.empty() || snapshot.source.state != device::SourceState::starting ||
         now - snapshot.source.since > wait_for_gpus;
}

}  // namespace

IncidentDesk::IncidentDesk(IncidentParts parts)
    : parts_(std::move(parts)),
      began_(parts_.clock.wall()),
      expected_(parts_.expected),
      engine_(parts_.checks.checks),
      check_problems_(parts_.checks.findings) {
  const MutexLock file_lock(file_mutex_);
  const MutexLock lock(mutex_);
  if (!parts_.file.empty()) open_file();
  if (parts_.log.empty() || marks_.contains(parts_.log)) return;
  marks_[parts_.log] = first_mark({parts_.boot, parts_.log}, began_);
  marks_moved_ = true;
}

IncidentDesk::~IncidentDesk() { stop(); }

void IncidentDesk::open_file() {
  auto opened = db::IncidentDb::open(parts_.file);
  auto kept = opened ? (*opened)->load(incident::BookLimits::resolved)
                     : Result<db::Kept>(tl::unexpect, opened.error());
  if (!kept && kept.error().code() == ErrorCode::corrupt) {
    put_aside_ = make_problem(parts_.file, "incidents-unreadable",
                              "Earlier incidents could not be read; they begin anew", kept.error());
    opened = fail(kept.error());
    if (const auto aside = put_aside(parts_.file, began_)) {
      put_aside_->evidence.push_back("what was there is now " + *aside);
      opened = db::IncidentDb::open(parts_.file);
      kept = db::Kept{};
    }
  }
  if (!opened || !kept) {
    const Error error = opened ? kept.error() : opened.error();
    problem_ = make_problem(parts_.file, "incidents-not-kept",
                            "Incidents are not kept on disk; a restart loses them", error);
    log::warning("incidents_not_kept", {{"reason", error.describe()}});
    return;
  }
  file_ = std::move(*opened);
  book_.restore(std::move(kept->incidents));
  for (auto& mark : kept->marks) marks_[mark.source] = mark;
  sent_ = std::move(kept->sent);
  for (const auto& target : kept->targets) targets_[target.name] = target.after;
}

void IncidentDesk::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void IncidentDesk::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    const auto next = std::chrono::steady_clock::now() + look_every;
    do {
      save();
      if (!sleep_unless_stopped(stop, between_writes)) break;
      const MutexLock lock(mutex_);
      // What could not be written waits for the next look.
      const auto changed = [this]() REQUIRES(mutex_) {
        return !problem_ && (!unsaved_.empty() || marks_moved_);
      };
      changed_.wait_until(mutex_, stop, next, changed);
    } while (std::chrono::steady_clock::now() < next && !stop.stop_requested());
  }
}

void IncidentDesk::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  save();
}

void IncidentDesk::set_expected(health::Expected expected) {
  const MutexLock lock(mutex_);
  expected_ = std::move(expected);
}

void IncidentDesk::set_checks(health::CheckSet checks) {
  const MutexLock lock(mutex_);
  engine_.emplace(std::move(checks.checks));
  check_problems_ = std::move(checks.findings);
}

std::vector<Finding> IncidentDesk::checked() const {
  const MutexLock lock(mutex_);
  return checked_;
}

void IncidentDesk::on_events(const std::vector<Event>& events) {
  const MutexLock lock(mutex_);
  if (seen_) return hear(events);
  // After a restart the log begins with what was heard before it.
  for (const Event& event : events) {
    if (!was_heard(event, marks_)) waiting_.push_back(event);
  }
  if (waiting_.size() >= most_waiting) hear(std::exchange(waiting_, {}));
}

bool IncidentDesk::was_heard(const Event& event, const Marks& before) const {
  const auto found = before.find(event.origin.source);
  if (found == before.end() || found->second.boot != event.origin.boot) return false;
  const WallTime at = event.time.value_or(parts_.clock.wall());
  return event.origin.offset <= found->second.offset &&
         at.since_epoch <= found->second.at.since_epoch + same_time;
}

void IncidentDesk::hear(const std::vector<Event>& events) {
  // One record may hold several events.
  const Marks before = marks_;
  for (const Event& event : events) {
    if (was_heard(event, before)) continue;
    const WallTime at = event.time.value_or(parts_.clock.wall());
    const auto found = before.find(event.origin.source);
    db::ReadMark mark = found == before.end() ? first_mark(event.origin, began_) : found->second;
    if (mark.boot != event.origin.boot) {
      // A boot that began while this node was watched: nobody has seen its first lines.
      mark = first_mark(event.origin, {});
    }
    hear(event, at.since_epoch < mark.since.since_epoch - news_for);
    mark.offset = event.origin.offset;
    mark.at = at;
    marks_[event.origin.source] = mark;
    marks_moved_ = true;
  }
  collect();
}

void IncidentDesk::hear(const Event& event, bool old) {
  auto signal = incident::signal_of(event, view_, parts_.clock.wall());
  if (signal) {
    if (detail(event, "writer") == "program") be_a_trial(*signal);
    old ? book_.recall(*signal) : book_.hear(*signal);
  }
  if (old || !event.pci || !incident::says_recovered(event)) return;
  for (const auto& gpu : view_.gpus) {
    if (gpu.pci != *event.pci) continue;
    book_.hear_recovered({EntityKind::gpu, gpu.uuid}, event.time.value_or(parts_.clock.wall()));
  }
}

void IncidentDesk::look() {
  const auto snapshot = parts_.snapshot();
  const MutexLock lock(mutex_);
  view_ = incident::view_of(snapshot, parts_.boot);
  if (!seen_ && !is_ready(snapshot, parts_.clock.monotonic())) return;
  seen_ = true;
  hear(std::exchange(waiting_, {}));
  const WallTime now = parts_.clock.wall();
  std::vector<incident::Signal> signals;
  checked_ = engine_->evaluate(snapshot);
  std::erase_if(checked_, [](const Finding& one) { return one.state != FindingState::firing; });
  for (const Finding& finding : health::evaluate(snapshot, expected_, checked_)) {
    if (auto signal = incident::signal_of(finding, view_, now))
      signals.push_back(std::move(*signal));
  }
  book_.find(signals, view_, now);
  book_.pass(now);
  book_.look([&](const Incident& incident) {
    return incident::due_look(incident, {snapshot, view_, parts_.events, now});
  });
  collect();
}

void IncidentDesk::collect() {
  for (auto& changed : book_.take_changed(parts_.clock.wall())) {
    unsaved_.insert_or_assign(changed.id, std::move(changed));
  }
  if (!unsaved_.empty() || marks_moved_) changed_.notify_one();
}

void IncidentDesk::save() {
  const MutexLock file_lock(file_mutex_);
  std::map<std::uint64_t, Incident> taken;
  std::vector<db::ReadMark> marks;
  {
    const MutexLock lock(mutex_);
    if (unsaved_.empty() && !marks_moved_) return;
    marks_moved_ = false;
    taken = std::exchange(unsaved_, {});
    for (const auto& [source, mark] : marks_) marks.push_back(mark);
  }
  std::vector<Incident> incidents;
  incidents.reserve(taken.size());
  for (const auto& [id, incident] : taken) incidents.push_back(incident);
  if (file_ != nullptr) {
    const auto saved = file_->save(incidents, marks);
    const MutexLock lock(mutex_);
    tell_saved(saved, std::move(taken));
  }
  // Where nothing can be written people have to be told all the same.
  if (parts_.on_saved) parts_.on_saved(incidents);
}

std::vector<SentMark> IncidentDesk::sent() const {
  const MutexLock lock(mutex_);
  return sent_;
}

void IncidentDesk::on_sent(const SentMark& sent) {
  const MutexLock file_lock(file_mutex_);
  if (file_ == nullptr) return;
  // A message that is not remembered is sent once more after a restart, with the same key.
  if (const auto saved = file_->save(sent); !saved) {
    log::warning("message_not_remembered", {{"reason", saved.error().describe()}});
  }
}

std::uint64_t IncidentDesk::before_target(const std::string& name) {
  const MutexLock file_lock(file_mutex_);
  const MutexLock lock(mutex_);
  const auto known = targets_.find(name);
  if (known != targets_.end()) return known->second;
  const auto all = book_.all();
  const std::uint64_t after = all.empty() ? 0 : all.back().id;
  targets_[name] = after;
  if (file_ == nullptr) return after;
  // Once more new at the next start: then what is over by then is not told.
  if (const auto saved = file_->save(db::TargetMark{name, after}); !saved) {
    log::warning("target_not_remembered", {{"reason", saved.error().describe()}});
  }
  return after;
}

void IncidentDesk::tell_saved(const Result<void>& saved,
                              std::map<std::uint64_t, Incident> written) {
  if (saved) return problem_.reset();
  // They are tried again at the next look, with what came since.
  unsaved_.merge(written);
  marks_moved_ = true;
  if (!problem_) log::warning("incidents_not_kept", {{"reason", saved.error().describe()}});
  problem_ = make_problem(parts_.file, "incidents-not-kept",
                          "Incidents are not kept on disk; a restart loses what came since",
                          saved.error());
}

std::vector<Incident> IncidentDesk::kept(std::optional<std::uint64_t> id) const {
  const MutexLock lock(mutex_);
  return id ? book_.one(*id) : book_.all();
}

Result<Incident> IncidentDesk::request(std::uint64_t id, const incident::Request& request) {
  auto changed = [&] {
    const MutexLock lock(mutex_);
    auto done = book_.request(id, request, parts_.clock.wall());
    collect();
    return done;
  }();
  save();
  return changed;
}

std::vector<Finding> IncidentDesk::problems() const {
  const MutexLock lock(mutex_);
  std::vector<Finding> found = check_problems_;
  if (put_aside_) found.push_back(*put_aside_);
  if (problem_) found.push_back(*problem_);
  return found;
}

}  // namespace stoker::app
