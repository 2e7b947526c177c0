#include "diag_schedule.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/replace_file.h"
#include "base/sleep.h"
#include "base/write_all.h"
#include "diag/judge.h"
#include "diag/test_row.h"
#include "event/log_time.h"

namespace stoker::app {
namespace {

using config::OptionId;
using device::probe::Process;

// Every ten seconds, more often where cards are idle after less than a minute and a half.
constexpr Nanoseconds results_every = Seconds(10);
constexpr Milliseconds child_look{200};
constexpr Nanoseconds child_ends_within = Seconds(2);
// A test that was given up is tried again after this. Our choice.
constexpr Nanoseconds again_after = Seconds(3600);
// Of one card: the tests of some ten runs.
constexpr std::size_t rows_read = 400;

std::optional<WallTime> time_of(std::string_view text) {
  event::LogTime time;
  return event::take_iso_time(text, time) ? time.wall : std::nullopt;
}

// Another one whenever somebody has written it.
std::string state_of_file(const std::string& path) {
  std::string out;
  for (const char* beside : {"", "-wal"}) {
    std::error_code none;
    const auto written = std::filesystem::last_write_time(path + beside, none);
    out += fmt::format("{}:{} ", none ? 0 : written.time_since_epoch().count(),
                       none ? 0 : std::filesystem::file_size(path + beside, none));
  }
  return out;
}

std::string key_of(const store::GpuSnapshot& gpu) {
  return diag::key_of({.uuid = gpu.info.uuid, .serial = gpu.info.serial});
}

// As Process::poll_exit() says it.
std::string exited_with(int status) { return fmt::format("exited with status {}", status); }

bool is_state(const std::string& test) { return test.starts_with("state_"); }

constexpr const char* not_made_rule = "diag-not-made";
// The first time may be anything.
constexpr int told_from = 2;

// Does it say how the card is? `active`: by a test that made it work; what came over it meanwhile is none.
bool is_verdict(const db::DiagRow& row, bool active) {
  if (row.verdict == "not_tested" || row.test.starts_with("load_")) return false;
  return !active || !is_state(row.test);
}

// Of rows of which none has a verdict.
std::string reason_of(const std::vector<db::DiagRow>& rows) {
  const auto why = std::ranges::find_if(rows, [](const db::DiagRow& row) {
    return !is_state(row.test) && row.verdict == "not_tested" && !row.reason.empty();
  });
  return why == rows.end() ? "no test of its level was made" : why->reason;
}

// A test failed, and nothing of it is in diag.db.
Finding failed_unkept(const store::GpuSnapshot& gpu, const DiagScheduleParts& parts) {
  const std::string again = fmt::format("stoker diag --level {} --gpu {}",
                                        parts.settings.text(OptionId::diag_level), gpu.info.uuid);
  return {.rule = "diag-failed",
          .severity = Severity::error,
          .entity = {EntityKind::gpu, gpu.info.uuid},
          .message = fmt::format("GPU {} ({}) or its node failed a test, and which is not kept",
                                 gpu.info.index, gpu.info.pci.sysfs()),
          .fix = fmt::format("Run {} and see which; look whether {}/diag.db can be written", again,
                             parts.data),
          .source = "docs/specs/diag.md"};
}

// A test of links needs other cards to pass.
std::string run_that_repeats(const std::vector<const db::DiagRow*>& failed,
                             const std::string& uuid) {
  const bool of_links = std::ranges::any_of(failed, [](const db::DiagRow* row) {
    const auto* test = diag::find_test(row->test);
    return test != nullptr && diag::is_of_all_cards(test->step);
  });
  return of_links ? "Take the work off all cards of the node and repeat stoker diag --level 2 "
                    "without --gpu"
                  : "Take the work off it and repeat stoker diag --level 2 --gpu " + uuid;
}

}  // namespace

bool has_diag_schedule(const config::Settings& settings) {
  return settings.duration(OptionId::diag_idle) > Nanoseconds{0};
}

std::optional<Finding> failed_tests(const store::GpuSnapshot& gpu,
                                    const std::vector<db::DiagRow>& rows) {
  std::set<std::string> known;
  std::vector<const db::DiagRow*> failed;
  for (const auto& row : rows) {
    // A test that was not made says nothing, neither for nor against.
    if (is_state(row.test) || row.verdict == "not_tested" || !known.insert(row.test).second)
      continue;
    if (row.verdict == "fail") failed.push_back(&row);
  }
  if (failed.empty()) return std::nullopt;
  const auto& first = *failed.front();
  Finding out{
      .rule = "diag-failed",
      .severity = Severity::error,
      .since = time_of(first.started),
      .entity = {EntityKind::gpu, gpu.info.uuid},
      .message = fmt::format(
          "GPU {} ({}) failed {}{}: {}", gpu.info.index, gpu.info.pci.sysfs(), first.test,
          failed.size() == 1 ? std::string() : fmt::format(" and {} more tests", failed.size() - 1),
          first.reason),
      .cause = "An active test found it too slow, or wrong in what it does",
      .action = Action::field_diag,
      .fix = fmt::format(
          "{}: a test that passes then is no finding any more; if it fails again, run NVIDIA's "
          "field diagnostic",
          run_that_repeats(failed, gpu.info.uuid)),
      .source = "docs/specs/diag.md"};
  out.evidence.reserve(failed.size());
  for (const auto* row : failed)
    out.evidence.push_back(fmt::format("{} {}: {}", row->started, row->test, row->reason));
  return out;
}

DiagSchedule::DiagSchedule(DiagScheduleParts parts)
    : parts_(std::move(parts)),
      config_file_(parts_.data + "/diag-schedule.yaml"),
      watch_({.idle = parts_.settings.duration(OptionId::diag_idle),
              .every = parts_.settings.duration(OptionId::diag_every),
              .spread = true}) {}

DiagSchedule::~DiagSchedule() { stop(); }

void DiagSchedule::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void DiagSchedule::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DiagSchedule::run(const std::stop_token& stop) {
  const auto idle = parts_.settings.duration(OptionId::diag_idle);
  const Nanoseconds every = std::clamp<Nanoseconds>(idle / 9, Milliseconds(100), results_every);
  do {
    const auto snapshot = parts_.snapshot();
    read_results(snapshot);
    const bool in_maintenance = parts_.in_maintenance();
    auto out_of_reach = held(snapshot);
    for (const auto& gpu : snapshot.gpus) {
      const auto until = not_before_.find(gpu.info.uuid);
      const bool waits = until != not_before_.end() && system_clock().monotonic() < until->second;
      // A card is idle from the end of a maintenance on.
      if (in_maintenance || waits) out_of_reach.insert(gpu.info.uuid);
    }
    const auto due = watch_.look({snapshot, std::move(out_of_reach), tested_});
    if (due && unread_.empty() && !in_maintenance) test(*due, stop);
  } while (sleep_unless_stopped(stop, every));
}

// Also what somebody has tested by hand since.
void DiagSchedule::read_results(const store::Snapshot& snapshot) {
  const std::string path = parts_.data + "/diag.db";
  std::error_code none;
  if (snapshot.gpus.empty()) return;
  if (!std::filesystem::exists(path, none)) {
    if (!std::exchange(unread_, "").empty()) tell();
    return;
  }
  std::string seen = state_of_file(path) + std::to_string(snapshot.gpus.size());
  if (seen == seen_) return;
  auto file = db::DiagDb::open(path);
  std::vector<Finding> found;
  for (const auto& gpu : snapshot.gpus) {
    if (!file || key_of(gpu).empty()) continue;
    const auto rows = (*file)->find({.card = key_of(gpu), .most = rows_read});
    if (!rows) {
      file = fail(rows.error());
      continue;
    }
    note_tested(gpu.info.uuid, *rows);
    if (auto failed = failed_tests(gpu, *rows)) found.push_back(std::move(*failed));
  }
  if (!file) {
    std::string why = file.error().describe();
    if (why == unread_) return;
    log::warning("diag_results_unread", {{"reason", why}});
    unread_ = std::move(why);
    return tell();
  }
  unread_.clear();
  seen_ = std::move(seen);
  failed_ = std::move(found);
  tell();
}

void DiagSchedule::note_tested(const std::string& uuid, const std::vector<db::DiagRow>& rows) {
  const bool active = parts_.settings.text(OptionId::diag_level) != "1";
  const auto last =
      std::ranges::find_if(rows, [&](const db::DiagRow& row) { return is_verdict(row, active); });
  const auto at = last == rows.end() ? std::nullopt : time_of(last->started);
  if (!at) return;
  auto& tested = tested_[uuid];
  if (tested.since_epoch < at->since_epoch) tested = *at;
  const auto trouble = troubles_.find(uuid);
  if (trouble != troubles_.end() && trouble->second.at.since_epoch < at->since_epoch)
    troubles_.erase(trouble);
}

void DiagSchedule::tell() {
  auto found = failed_;
  for (const auto& [uuid, trouble] : troubles_) {
    if (trouble.finding.rule == "diag-failed" || trouble.times >= told_from)
      found.push_back(trouble.finding);
  }
  if (!unread_.empty()) {
    found.push_back(
        {.rule = "diag-unread",
         .entity = {EntityKind::node, ""},
         .message = fmt::format("No idle GPU is tested: diag.db can't be read: {}", unread_),
         .fix = fmt::format("Put {}/diag.db aside, or set diag.idle to 0s", parts_.data),
         .source = "docs/specs/diag.md"});
  }
  parts_.tell(std::move(found));
}

// Cards that an incident is about, or a link of theirs.
std::set<std::string> DiagSchedule::held(const store::Snapshot& snapshot) const {
  std::set<std::string> out;
  for (const auto& incident : parts_.incidents()) {
    // Nothing is wrong with a card that could not be tested; it is tried again.
    if (incident.state == IncidentState::resolved || incident.cause == not_made_rule) continue;
    for (const auto& gpu : snapshot.gpus) {
      const auto& uuid = gpu.info.uuid;
      if (incident.pci == gpu.info.pci.sysfs() || incident.entity.id == uuid ||
          incident.entity.id.starts_with(uuid + "/"))
        out.insert(uuid);
    }
  }
  return out;
}

bool DiagSchedule::may_go_on(const std::string& uuid) const {
  return !parts_.in_maintenance() && !held(parts_.snapshot()).contains(uuid);
}

void DiagSchedule::test(const std::string& uuid, const std::stop_token& stop) {
  const auto& settings = parts_.settings;
  std::vector<std::string> arguments = {
      "diag",       "--while-idle", "--started-by", std::to_string(::getpid()),          "--quiet",
      "--gpu",      uuid,           "--level",      settings.text(OptionId::diag_level), "--config",
      config_file_, "--data",       parts_.data};
  const std::string& profile = settings.text(OptionId::sim_profile);
  if (!profile.empty()) arguments.insert(arguments.end(), {"--sim", profile});
  watch_.begun(uuid);
  const auto began = system_clock().wall();
  // The same options, whether they came from a file or a flag. Nobody else is to read what is secret among them.
  const auto written = replace_file(
      config_file_,
      [&](int fd, const std::string& name) {
        return write_all(fd, config::to_yaml(settings), name);
      },
      0600);
  if (!written) return judge({.uuid = uuid, .began = began, .how = written.error().describe()});
  auto child = Process::spawn({.program = parts_.program,
                               .name = "stoker diag",
                               .arguments = std::move(arguments),
                               .tell_socket = false});
  if (!child) return judge({.uuid = uuid, .began = began, .how = child.error().describe()});
  log::info("diag_begins", {{"gpu", uuid}, {"level", settings.text(OptionId::diag_level)}});
  auto run = watch(*child, uuid, stop);
  run.began = began;
  log::info("diag_ended", {{"gpu", uuid}, {"how", run.how}});
  if (const auto removed = remove_file(config_file_); !removed)
    log::warning("diag_options_left", {{"reason", removed.error().describe()}});
  judge(run);
}

DiagSchedule::Run DiagSchedule::watch(Process& child, const std::string& uuid,
                                      const std::stop_token& stop) {
  Run out{.uuid = uuid};
  const auto began = system_clock().monotonic();
  auto looked = began;
  std::optional<MonotonicTime> asked;
  int sent = 0;
  std::optional<std::string> how;
  while (!(how = child.poll_exit())) {
    const auto now = system_clock().monotonic();
    const bool is_unwanted = stop.stop_requested() || !may_go_on(uuid);
    out.is_asked = out.is_asked || is_unwanted;
    out.is_late = out.is_late || (now - began > parts_.run_within && !out.is_asked);
    if (!asked && (is_unwanted || out.is_late)) asked = now;
    const bool is_over = asked && now - *asked > parts_.killed_after;
    const int due = is_over ? SIGKILL : asked ? SIGTERM : 0;
    if (due != sent) child.signal(due);
    sent = due;
    const auto limit =
        stop.stop_requested() ? child_ends_within : parts_.killed_after + child_ends_within;
    if (asked && now - *asked > limit) break;
    if (now - looked > results_every) {
      read_results(parts_.snapshot());
      looked = now;
    }
    std::this_thread::sleep_for(child_look);
  }
  out.how = how.value_or("it is left to end by itself");
  return out;
}

std::vector<db::DiagRow> DiagSchedule::rows_since(const store::GpuSnapshot& gpu,
                                                  WallTime began) const {
  auto file = db::DiagDb::open(parts_.data + "/diag.db");
  if (!file) return {};
  auto rows = (*file)->find({.card = key_of(gpu), .most = rows_read});
  if (!rows) return {};
  std::erase_if(*rows, [&](const db::DiagRow& row) {
    const auto at = time_of(row.started);  // in whole milliseconds
    return !at || at->since_epoch + Milliseconds(1) < began.since_epoch;
  });
  return std::move(*rows);
}

void DiagSchedule::judge(const Run& run) {
  const auto snapshot = parts_.snapshot();
  const auto* gpu = store::gpu_with(snapshot, run.uuid);
  // What was given up or not made is no test; it is not tried again at once either.
  const bool is_failed = run.how == exited_with(1);
  const bool is_told = run.how == exited_with(0) || is_failed;
  const auto every = parts_.settings.duration(OptionId::diag_every);
  if (is_told) tested_[run.uuid] = run.began;
  if (!is_told) not_before_[run.uuid] = system_clock().monotonic() + std::min(every, again_after);
  if (is_told) troubles_.erase(run.uuid);
  if (gpu != nullptr) {
    const auto rows = rows_since(*gpu, run.began);
    const auto tells_failure = [](const db::DiagRow& row) { return row.verdict == "fail"; };
    const auto is_made = [](const db::DiagRow& row) { return is_verdict(row, true); };
    if (is_failed && std::ranges::none_of(rows, tells_failure)) {
      troubles_[run.uuid] = {.at = run.began, .finding = failed_unkept(*gpu, parts_)};
    } else if (!is_told && !run.is_asked && std::ranges::none_of(rows, is_made)) {
      // One that made room for a job has kept nothing.
      const bool gave_way = run.how == exited_with(2) && rows.empty() && !run.is_late;
      if (!gave_way) not_made(run, *gpu, rows.empty() ? run.how : reason_of(rows));
    }
  }
  read_results(snapshot);
  tell();
}

void DiagSchedule::not_made(const Run& run, const store::GpuSnapshot& gpu, const std::string& why) {
  auto& trouble = troubles_[run.uuid];
  trouble.times = run.is_late ? told_from : trouble.times + 1;
  trouble.at = run.began;
  const std::string text =
      run.is_late ? "it did not end within " + format_duration(parts_.run_within) : why;
  log::warning("diag_not_made", {{"gpu", run.uuid}, {"reason", text}});
  trouble.finding = {
      .rule = not_made_rule,
      .entity = {EntityKind::gpu, run.uuid},
      .message = fmt::format("GPU {} ({}) could not be tested while it was idle: {}",
                             gpu.info.index, gpu.info.pci.sysfs(), text),
      .fix = fmt::format("Run stoker diag --level {} --gpu {} and see what is in the way",
                         parts_.settings.text(OptionId::diag_level), run.uuid),
      .source = "docs/specs/diag.md"};
}

}  // namespace stoker::app
