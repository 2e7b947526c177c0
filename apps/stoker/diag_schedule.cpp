#include "diag_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/sleep.h"
#include "device/probe/process.h"
#include "diag/judge.h"
#include "event/log_time.h"

namespace stoker::app {
namespace {

using config::OptionId;
using device::probe::Process;

// Every ten seconds, more often where cards are idle after less than a minute and a half.
constexpr Nanoseconds look_every = Seconds(10);
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

bool is_state(const std::string& test) { return test.starts_with("state_"); }

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
          "Take the work off it and repeat stoker diag --level 2 --gpu {}: a test that passes "
          "then is no finding any more; if it fails again, run NVIDIA's field diagnostic",
          gpu.info.uuid),
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
              .every = parts_.settings.duration(OptionId::diag_every)}) {}

DiagSchedule::~DiagSchedule() { stop(); }

void DiagSchedule::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void DiagSchedule::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DiagSchedule::run(const std::stop_token& stop) {
  // The same options, whether they came from a file or a flag.
  std::ofstream(config_file_, std::ios::trunc) << config::to_yaml(parts_.settings);
  const auto idle = parts_.settings.duration(OptionId::diag_idle);
  const Nanoseconds every = std::clamp<Nanoseconds>(idle / 9, Milliseconds(100), look_every);
  do {
    const auto snapshot = parts_.snapshot();
    read_results(snapshot);
    const auto due = watch_.look({snapshot, held(snapshot), tested_});
    if (due && !parts_.in_maintenance()) test(*due, stop);
  } while (sleep_unless_stopped(stop, every));
}

// Also what somebody has tested by hand since.
void DiagSchedule::read_results(const store::Snapshot& snapshot) {
  const std::string path = parts_.data + "/diag.db";
  std::error_code none;
  if (snapshot.gpus.empty() || !std::filesystem::exists(path, none)) return;
  std::string seen = state_of_file(path) + std::to_string(snapshot.gpus.size());
  if (seen == seen_) return;
  auto file = db::DiagDb::open(path);
  std::vector<Finding> found;
  for (const auto& gpu : snapshot.gpus) {
    const std::string card = diag::key_of({.uuid = gpu.info.uuid, .serial = gpu.info.serial});
    if (!file || card.empty()) continue;
    const auto rows = (*file)->find({.card = card, .most = rows_read});
    if (!rows) {
      file = fail(rows.error());
      continue;
    }
    if (!rows->empty()) {
      if (const auto last = time_of(rows->front().started);
          last && tested_[gpu.info.uuid].since_epoch < last->since_epoch)
        tested_[gpu.info.uuid] = *last;
    }
    if (auto failed = failed_tests(gpu, *rows)) found.push_back(std::move(*failed));
  }
  if (!file) {
    log::warning("diag_results_unread", {{"reason", file.error().describe()}});
    return;
  }
  seen_ = std::move(seen);
  parts_.tell(std::move(found));
}

// Cards that an incident is about, or a link of theirs.
std::set<std::string> DiagSchedule::held(const store::Snapshot& snapshot) const {
  std::set<std::string> out;
  for (const auto& incident : parts_.incidents()) {
    if (incident.state == IncidentState::resolved) continue;
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
  std::vector<std::string> arguments = {"diag",
                                        "--while-idle",
                                        "--quiet",
                                        "--gpu",
                                        uuid,
                                        "--level",
                                        settings.text(OptionId::diag_level),
                                        "--config",
                                        config_file_,
                                        "--data",
                                        parts_.data};
  const std::string& profile = settings.text(OptionId::sim_profile);
  if (!profile.empty()) arguments.insert(arguments.end(), {"--sim", profile});
  watch_.begun(uuid);
  const auto began = system_clock().wall();
  auto child = Process::spawn({.program = parts_.program,
                               .name = "stoker diag",
                               .arguments = std::move(arguments),
                               .tell_socket = false});
  if (!child) {
    log::warning("diag_not_started", {{"gpu", uuid}, {"reason", child.error().describe()}});
    tested_[uuid] = began;
    return;
  }
  log::info("diag_begins", {{"gpu", uuid}, {"level", settings.text(OptionId::diag_level)}});
  std::optional<MonotonicTime> asked;
  std::optional<std::string> how;
  while (!(how = child->poll_exit())) {
    if (!asked && (stop.stop_requested() || !may_go_on(uuid))) {
      asked = system_clock().monotonic();
      child->signal(SIGTERM);
    }
    const bool is_late = asked && system_clock().monotonic() - *asked > child_ends_within;
    if (is_late && stop.stop_requested()) break;
    std::this_thread::sleep_for(child_look);
  }
  const bool is_told = how == "exited with status 0" || how == "exited with status 1";
  const auto every = settings.duration(OptionId::diag_every);
  // What was given up is no test; it is not tried again at once either.
  tested_[uuid] =
      is_told || every <= again_after ? began : WallTime{began.since_epoch - every + again_after};
  log::info("diag_ended", {{"gpu", uuid}, {"how", how.value_or("it is left to end by itself")}});
}

}  // namespace stoker::app
