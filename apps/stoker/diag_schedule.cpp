#include "diag_schedule.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/replace_file.h"
#include "base/sleep.h"
#include "base/write_all.h"
#include "device/probe/packet.h"
#include "diag/judge.h"
#include "diag_findings.h"
#include "diag_history.h"
#include "diag_plan.h"

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

// As Process::poll_exit() says it.
std::string exited_with(int status) { return fmt::format("exited with status {}", status); }

db::DiagGpu rows_of(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  const auto cards = traits_of(snapshot, false);
  const auto card = std::ranges::find(cards, gpu.info.index, &diag::CardTraits::gpu);
  return card == cards.end() ? db::DiagGpu{gpu.info.uuid, ""} : kept_as(*card, cards);
}

// The agent's variables would go before the file, in which its flags are too.
std::vector<std::string> option_variables() {
  std::vector<std::string> out;
  out.reserve(config::all_options().size());
  for (const auto& row : config::all_options()) out.push_back(row.environment());
  return out;
}

// What the child has said of its end.
std::string last_word_of(const Process& child) {
  const auto packet = device::probe::receive_packet(child.socket(), device::probe::Wait::no);
  return packet ? *packet : std::string();
}

}  // namespace

bool has_diag_schedule(const config::Settings& settings) {
  return settings.duration(OptionId::diag_idle) > Nanoseconds{0};
}

DiagSchedule::DiagSchedule(DiagScheduleParts parts)
    : parts_(std::move(parts)),
      config_file_(parts_.data + "/diag-schedule.yaml"),
      level_(parts_.settings.text(OptionId::diag_level) == "2" ? 2 : 1),
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
  do {
    const auto snapshot = parts_.snapshot();
    read_results(snapshot);
    const auto seen = look(snapshot);
    if (seen.due) test(*seen.due, stop);
  } while (sleep_unless_stopped(stop, look_every()));
}

Nanoseconds DiagSchedule::look_every() const {
  const auto idle = parts_.settings.duration(OptionId::diag_idle);
  return std::clamp<Nanoseconds>(idle / 9, Milliseconds(100), results_every);
}

diag::IdleLook DiagSchedule::look(const store::Snapshot& snapshot) {
  std::map<std::string, WallTime> tested;
  for (const auto& [uuid, card] : cards_) {
    if (card.tested) tested[uuid] = *card.tested;
  }
  auto seen = watch_.look({snapshot, held(snapshot), std::move(tested), not_before_});
  show(seen);
  return seen;
}

// Also what somebody has tested by hand since.
void DiagSchedule::read_results(const store::Snapshot& snapshot) {
  const std::string path = parts_.data + "/diag.db";
  std::error_code none;
  if (snapshot.gpus.empty()) return;
  if (!std::filesystem::exists(path, none)) {
    has_turns_ = true;  // none, and from now on they are ours
    if (!std::exchange(unread_, "").empty()) tell(snapshot);
    return;
  }
  std::string seen = state_of_file(path) + std::to_string(snapshot.gpus.size());
  if (seen == seen_) return;
  auto file = db::DiagDb::open(path);
  std::vector<Finding> found;
  for (const auto& gpu : snapshot.gpus) {
    if (!file || gpu.info.uuid.empty()) continue;
    const auto rows = (*file)->find({.gpu = rows_of(gpu, snapshot), .most = rows_read});
    if (!rows) {
      file = fail(rows.error());
      continue;
    }
    take_rows(gpu.info.uuid, *rows);
    if (auto failed = failed_tests(gpu, *rows)) found.push_back(std::move(*failed));
  }
  if (!file) {
    std::string why = file.error().describe();
    if (why == unread_) return;
    log::warning("diag_results_unread", {{"reason", why}});
    unread_ = std::move(why);
    return tell(snapshot);
  }
  if (!std::exchange(has_turns_, true)) take_turns(**file);
  unread_.clear();
  seen_ = std::move(seen);
  failed_ = std::move(found);
  tell(snapshot);
}

// Only a run that made all tests of the level is a test of it.
void DiagSchedule::take_rows(const std::string& uuid, const std::vector<db::DiagRow>& rows) {
  const auto last = std::ranges::find_if(
      rows, [this](const db::DiagRow& row) { return row.made_level >= level_; });
  const auto at = last == rows.end() ? std::nullopt : kept_time(last->started);
  if (!at) return;
  auto& card = cards_[uuid];
  if (!card.tested || card.tested->since_epoch < at->since_epoch) card.tested = *at;
}

// How the runs before this agent's start ended.
void DiagSchedule::take_turns(db::DiagDb& file) {
  const auto turns = file.turns();
  if (!turns) return;
  for (const auto& turn : *turns) {
    const auto end = test_run_end_of(turn.end);
    const auto began = kept_time(turn.began);
    if (!end || !began) continue;
    auto& card = cards_[turn.uuid];
    card.over = {began->since_epoch + parts_.run_within + parts_.killed_after};  // at the latest
    card.runs.push_back({.began = *began,
                         .end = *end,
                         .reason = turn.reason,
                         .in_a_row = turn.in_a_row,
                         .kept = turn.kept});
  }
  for (auto& [uuid, card] : cards_) std::ranges::sort(card.runs, {}, &TestRun::began);
}

void DiagSchedule::tell(const store::Snapshot& snapshot) {
  auto found = failed_;
  for (auto& [uuid, card] : cards_) {
    // Whoever has tested it since, it can be tested, and what it is like is known.
    std::erase_if(card.runs, [&, &of = card](const TestRun& run) {
      const bool unkept = is_unkept(run);
      return of.tested && (unkept ? of.over : run.began) < *of.tested &&
             (unkept || !is_made(run.end));
    });
    const auto* gpu = store::gpu_with(snapshot, uuid);
    if (gpu == nullptr) continue;
    auto problem =
        run_problem(*gpu, card.runs, parts_.settings.text(OptionId::diag_level), parts_.data);
    if (problem) found.push_back(std::move(*problem));
  }
  if (!unread_.empty()) found.push_back(results_unread(unread_, parts_.data));
  parts_.tell(std::move(found));
}

void DiagSchedule::show(const diag::IdleLook& seen) {
  const auto& settings = parts_.settings;
  TestSchedule out{.level = level_,
                   .idle = settings.duration(OptionId::diag_idle),
                   .every = settings.duration(OptionId::diag_every)};
  out.cards.reserve(seen.cards.size());
  for (const auto& [uuid, idle] : seen.cards) {
    const auto& card = cards_[uuid];
    CardTests one{.uuid = uuid,
                  .state = idle.now.state,
                  .why = idle.now.why,
                  .tested = card.tested,
                  .next = idle.next};
    if (uuid == running_) {
      one.state = TestState::runs;
      one.why.clear();
      one.next.reset();
    }
    if (!card.runs.empty()) one.last = card.runs.back();
    out.cards.push_back(std::move(one));
  }
  if (parts_.show) parts_.show(std::move(out));
}

// Cards that nobody is to touch: in a maintenance all, else those that an incident is about, or a link of theirs.
std::map<std::string, diag::Obstacle> DiagSchedule::held(const store::Snapshot& snapshot) const {
  std::map<std::string, diag::Obstacle> out;
  const auto hold = [&](TestState state, const std::string& why) {
    for (const auto& gpu : snapshot.gpus) out.try_emplace(gpu.info.uuid, state, why);
  };
  // A card is idle from the end of a maintenance on.
  if (parts_.in_maintenance()) hold(TestState::maintenance, "a maintenance is planned");
  for (const auto& incident : parts_.incidents()) {
    // Nothing is wrong with a card that could not be tested; it is tried again.
    if (incident.state == IncidentState::resolved || incident.cause == diag_not_made_rule) continue;
    for (const auto& gpu : snapshot.gpus) {
      const auto& uuid = gpu.info.uuid;
      if (incident.pci == gpu.info.pci.sysfs() || incident.entity.id == uuid ||
          incident.entity.id.starts_with(uuid + "/")) {
        out.try_emplace(uuid, TestState::incident,
                        fmt::format("incident {} ({}) is about it", incident.id, incident.cause));
      }
    }
  }
  if (!unread_.empty()) hold(TestState::unread, "diag.db can't be read: " + unread_);
  return out;
}

std::string DiagSchedule::wanted(const std::string& uuid) const {
  const auto snapshot = parts_.snapshot();
  const auto obstacles = held(snapshot);
  const auto found = obstacles.find(uuid);
  // What can't be read now was read when the test was begun.
  if (found != obstacles.end() && found->second.state != TestState::unread)
    return found->second.why;
  const auto pods = diag::pods_of(uuid, snapshot);
  return pods ? pods->why : "";
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
                               .without = option_variables()});
  if (!child) return judge({.uuid = uuid, .began = began, .how = child.error().describe()});
  log::info("diag_begins", {{"gpu", uuid}, {"level", settings.text(OptionId::diag_level)}});
  running_ = uuid;
  auto run = watch(*child, uuid, stop);
  running_.clear();
  run.began = began;
  if (const auto removed = remove_file(config_file_); !removed)
    log::warning("diag_options_left", {{"reason", removed.error().describe()}});
  judge(run);
}

DiagSchedule::Run DiagSchedule::watch(Process& child, const std::string& uuid,
                                      const std::stop_token& stop) {
  Run out{.uuid = uuid};
  const auto began = system_clock().monotonic();
  std::optional<MonotonicTime> looked;
  std::optional<MonotonicTime> asked;
  int sent = 0;
  std::optional<std::string> how;
  while (!(how = child.poll_exit())) {
    const auto now = system_clock().monotonic();
    if (out.asked_for.empty())
      out.asked_for = stop.stop_requested() ? "the agent ends" : wanted(uuid);
    out.is_late = out.is_late || (now - began > parts_.run_within && out.asked_for.empty());
    if (!asked && (!out.asked_for.empty() || out.is_late)) asked = now;
    const bool is_over = asked && now - *asked > parts_.killed_after;
    const int due = is_over ? SIGKILL : asked ? SIGTERM : 0;
    if (due != sent) child.signal(due);
    sent = due;
    const auto limit =
        stop.stop_requested() ? child_ends_within : parts_.killed_after + child_ends_within;
    if (asked && now - *asked > limit) break;
    if (!looked || now - *looked > look_every()) {
      const auto snapshot = parts_.snapshot();
      if (looked) read_results(snapshot);
      look(snapshot);
      looked = now;
    }
    std::this_thread::sleep_for(child_look);
  }
  out.how = how.value_or("it is left to end by itself");
  out.told = last_word_of(child);
  return out;
}

// What it has come to, but for how often.
TestRun DiagSchedule::judged(const Run& run, const store::Snapshot& snapshot) const {
  TestRun out{.began = run.began, .reason = run.how};
  const auto blank = std::min(run.told.find(' '), run.told.size());
  const auto told = test_run_end_of(run.told.substr(0, blank));
  const bool failed = run.how == exited_with(1);
  if (failed || run.how == exited_with(0)) {
    out.end = failed ? TestRunEnd::failed : TestRunEnd::passed;
    out.reason.clear();
  } else if (!run.asked_for.empty()) {
    out.end = TestRunEnd::given_up;
    out.reason = run.asked_for;
  } else if (run.is_late) {
    out.end = TestRunEnd::not_ended;
    out.reason = "it did not end within " + format_duration(parts_.run_within);
  } else if (told && run.how == exited_with(2)) {
    out.end = *told;
    out.reason = run.told.substr(std::min(blank + 1, run.told.size()));
  }
  const auto* gpu = store::gpu_with(snapshot, run.uuid);
  auto file = db::DiagDb::open(parts_.data + "/diag.db");
  if (!file || gpu == nullptr) return out;
  const auto rows = (*file)->find({.gpu = rows_of(*gpu, snapshot), .most = rows_read});
  out.kept = rows && std::ranges::any_of(*rows, [&](const db::DiagRow& row) {
               const auto at = kept_time(row.started);  // in whole milliseconds
               return at && at->since_epoch + Milliseconds(1) >= run.began.since_epoch &&
                      (!failed || row.verdict == "fail");
             });
  return out;
}

void DiagSchedule::judge(const Run& run) {
  const auto snapshot = parts_.snapshot();
  auto now = judged(run, snapshot);
  log::write(now.end == TestRunEnd::not_made ? log::Level::warning : log::Level::info, "diag_ended",
             {{"gpu", run.uuid}, {"end", to_string(now.end)}, {"reason", now.reason}});
  auto& card = cards_[run.uuid];
  card.over = system_clock().wall();
  // What was given up or not made is no test; it is not tried again at once either.
  if (is_made(now.end)) {
    card.tested = now.began;
    card.runs = {std::move(now)};
  } else {
    const auto every = parts_.settings.duration(OptionId::diag_every);
    not_before_[run.uuid] = system_clock().monotonic() + std::min(every, again_after);
    const auto before = std::ranges::find(card.runs, now.end, &TestRun::end);
    if (before != card.runs.end()) {
      now.in_a_row += before->in_a_row;
      card.runs.erase(before);
    }
    card.runs.push_back(std::move(now));
  }
  keep(run.uuid, card.runs);
  seen_.clear();
  read_results(snapshot);
  tell(snapshot);
  look(snapshot);
}

// A restart of the agent forgets what can't be kept.
void DiagSchedule::keep(const std::string& uuid, const std::vector<TestRun>& runs) const {
  std::vector<db::DiagTurn> turns;
  turns.reserve(runs.size());
  for (const auto& run : runs) {
    turns.push_back({.uuid = uuid,
                     .began = format_utc(run.began),
                     .end = to_string(run.end),
                     .reason = run.reason,
                     .in_a_row = run.in_a_row,
                     .kept = run.kept});
  }
  auto file = db::DiagDb::open(parts_.data + "/diag.db");
  const auto saved = file ? (*file)->save_turns(uuid, turns) : Result<void>(fail(file.error()));
  if (!saved) log::warning("diag_turn_not_kept", {{"reason", saved.error().describe()}});
}

}  // namespace stoker::app
