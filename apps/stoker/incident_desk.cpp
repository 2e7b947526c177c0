#include "incident_desk.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/sleep.h"
#include "not_kept.h"

namespace stoker::app {
namespace {

constexpr Seconds look_every{1};
// In a storm one write has what came meanwhile.
constexpr Milliseconds between_writes{20};

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

}  // namespace

IncidentDesk::IncidentDesk(IncidentParts parts)
    : parts_(std::move(parts)),
      began_(parts_.clock.wall()),
      maintenance_file_(parts_.maintenance_file),
      clerk_(parts_.boot, began_),
      check_problems_(parts_.checks.findings) {
  const MutexLock file_lock(file_mutex_);
  const MutexLock lock(mutex_);
  clerk_.set_expected(parts_.expected);
  clerk_.set_checks(parts_.checks.checks);
  clerk_.set_events(parts_.events);
  if (!parts_.file.empty()) open_file();
  if (auto mark = maintenance_file_.load()) clerk_.restore(*std::move(mark));
  maintenance_problem_ = maintenance_file_.problem();
  if (!parts_.log.empty()) clerk_.follow(parts_.log);
}

IncidentDesk::~IncidentDesk() { stop(); }

void IncidentDesk::open_file() {
  auto opened = db::IncidentDb::open(parts_.file);
  auto kept = opened ? (*opened)->load(incident::BookLimits::resolved)
                     : Result<db::Kept>(tl::unexpect, opened.error());
  if (!kept && kept.error().code() == ErrorCode::corrupt) {
    put_aside_ = not_kept(parts_.file, "incidents-unreadable",
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
    problem_ = not_kept(parts_.file, "incidents-not-kept",
                        "Incidents are not kept on disk; a restart loses them", error);
    log::warning("incidents_not_kept", {{"reason", error.describe()}});
    return;
  }
  file_ = std::move(*opened);
  clerk_.restore(std::move(kept->incidents), kept->marks);
  sent_ = std::move(kept->sent);
  for (const auto& target : kept->targets) targets_[target.name] = target.after;
}

void IncidentDesk::start() {
  looks_ = std::jthread([this](const std::stop_token& stop) { run_looks(stop); });
  writes_ = std::jthread([this](const std::stop_token& stop) { run_writes(stop); });
}

void IncidentDesk::run_looks(const std::stop_token& stop) {
  do look();
  while (sleep_unless_stopped(stop, look_every));
}

void IncidentDesk::run_writes(const std::stop_token& stop) {
  do {
    static_cast<void>(save());
    if (!sleep_unless_stopped(stop, between_writes)) return;
    const MutexLock lock(mutex_);
    // What could not be written waits for the next look.
    const auto changed = [this]() REQUIRES(mutex_) {
      return !problem_ && (!unsaved_.empty() || clerk_.marks_moved());
    };
    changed_.wait_until(mutex_, stop, std::chrono::steady_clock::now() + look_every, changed);
  } while (!stop.stop_requested());
}

void IncidentDesk::stop() {
  looks_.request_stop();
  writes_.request_stop();
  if (looks_.joinable()) looks_.join();
  if (writes_.joinable()) writes_.join();
  static_cast<void>(save());
}

void IncidentDesk::set_expected(health::Expected expected) {
  const MutexLock lock(mutex_);
  clerk_.set_expected(std::move(expected));
}

void IncidentDesk::set_checks(health::CheckSet checks) {
  const MutexLock lock(mutex_);
  clerk_.set_checks(std::move(checks.checks));
  check_problems_ = std::move(checks.findings);
}

void IncidentDesk::set_tested(std::vector<Finding> found) {
  const MutexLock lock(mutex_);
  clerk_.set_tested(std::move(found));
}

std::vector<Finding> IncidentDesk::checked() const {
  const MutexLock lock(mutex_);
  return clerk_.checked();
}

void IncidentDesk::on_events(const std::vector<Event>& events) {
  const MutexLock lock(mutex_);
  clerk_.hear(events, incident::now_of(parts_.clock));
  collect();
}

void IncidentDesk::on_source(const EventSource& source) {
  const MutexLock lock(mutex_);
  if (source.followed) clerk_.follow(source.name);
}

void IncidentDesk::on_previous_boot(PreviousBoot boot) {
  const MutexLock lock(mutex_);
  clerk_.hear(std::move(boot));
}

void IncidentDesk::on_job_word(JobWord word) {
  const MutexLock lock(mutex_);
  clerk_.hear(std::move(word), incident::now_of(parts_.clock));
}

void IncidentDesk::look() {
  const auto snapshot = parts_.snapshot();
  const MutexLock lock(mutex_);
  clerk_.look(snapshot, incident::now_of(parts_.clock));
  collect();
}

void IncidentDesk::collect() {
  for (auto& changed : clerk_.book().take_changed(parts_.clock.wall())) {
    unsaved_.insert_or_assign(changed.id, std::move(changed));
  }
  if (!unsaved_.empty() || clerk_.marks_moved()) changed_.notify_one();
}

Result<void> IncidentDesk::save() {
  const MutexLock file_lock(file_mutex_);
  const Result<void> may = parts_.may_save ? parts_.may_save() : Result<void>{};
  static_cast<void>(keep_maintenance());
  std::map<std::uint64_t, Incident> taken;
  std::vector<ReadMark> marks;
  {
    const MutexLock lock(mutex_);
    if (may && unsaved_.empty() && !clerk_.marks_moved()) return {};
    taken = std::exchange(unsaved_, {});
    marks = clerk_.take_marks();
  }
  std::vector<Incident> incidents;
  incidents.reserve(taken.size());
  for (const auto& [id, incident] : taken) incidents.push_back(incident);
  Result<void> saved;
  if (file_ != nullptr) {
    saved = may ? file_->save(incidents, marks) : may;
    const MutexLock lock(mutex_);
    tell_saved(saved, std::move(taken));
  }
  // Where nothing can be written people have to be told all the same.
  if (parts_.on_saved) parts_.on_saved(incidents);
  return saved;
}

std::optional<MaintenanceNow> IncidentDesk::maintenance() const {
  const MutexLock lock(mutex_);
  const auto until = clerk_.held_until(incident::now_of(parts_.clock));
  if (!until) return std::nullopt;
  return MaintenanceNow{*clerk_.maintenance(), *until};
}

Result<void> IncidentDesk::keep_maintenance() {
  const auto mark = [&] {
    const MutexLock lock(mutex_);
    return clerk_.maintenance();
  }();
  auto kept = maintenance_file_.keep(mark);
  const MutexLock lock(mutex_);
  maintenance_problem_ = maintenance_file_.problem();
  return kept;
}

Result<std::optional<MaintenanceNow>> IncidentDesk::change_maintenance(
    const MaintenanceRequest& request) {
  const auto now = incident::now_of(parts_.clock);
  {
    const MutexLock file_lock(file_mutex_);
    {
      const MutexLock lock(mutex_);
      if (!request.length && !clerk_.held_until(now)) {
        return fail(ErrorCode::not_found, "no maintenance is planned");
      }
      if (request.length) {
        clerk_.begin_maintenance(request.who, request.why, *request.length, now);
      } else {
        clerk_.end_maintenance();
      }
      collect();
    }
    if (auto kept = keep_maintenance(); !kept && request.length) {
      const MutexLock lock(mutex_);
      clerk_.end_maintenance();
      return fail(Error(kept.error().code(), "it would not outlive a boot, and does not begin")
                      .caused_by(kept.error()));
    }
  }
  static_cast<void>(save());
  log::info(
      "maintenance",
      {{"what", request.length ? "begins" : "is over"}, {"by", request.who}, {"why", request.why}});
  return maintenance();
}

void IncidentDesk::hold_back(std::vector<Finding>& findings) const {
  const MutexLock lock(mutex_);
  clerk_.hold_back(findings, incident::now_of(parts_.clock));
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
  const auto all = clerk_.book().all();
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
  clerk_.move_marks();
  if (!problem_) log::warning("incidents_not_kept", {{"reason", saved.error().describe()}});
  problem_ =
      not_kept(parts_.file, "incidents-not-kept",
               "Incidents are not kept on disk; a restart loses what came since", saved.error());
}

std::vector<Incident> IncidentDesk::kept(std::optional<std::uint64_t> id) const {
  const MutexLock lock(mutex_);
  return id ? clerk_.book().one(*id) : clerk_.book().all();
}

Result<Incident> IncidentDesk::request(std::uint64_t id, const incident::Request& request) {
  auto changed = [&] {
    const MutexLock lock(mutex_);
    auto done = clerk_.book().request(id, request, parts_.clock.wall());
    collect();
    return done;
  }();
  if (auto saved = save(); !saved && changed) {
    return fail(Error(saved.error().code(),
                      "it is changed, but not kept on disk: a restart would forget it")
                    .caused_by(saved.error()));
  }
  return changed;
}

std::vector<Finding> IncidentDesk::problems() const {
  const MutexLock lock(mutex_);
  std::vector<Finding> found = check_problems_;
  if (put_aside_) found.push_back(*put_aside_);
  if (problem_) found.push_back(*problem_);
  if (maintenance_problem_) found.push_back(*maintenance_problem_);
  return found;
}

}  // namespace stoker::app
