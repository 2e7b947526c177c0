// The desk between events, checks, book and database: restarts, old lines, broken files, kills.
#include "incident_desk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "event/event_parser.h"
#include "event/kernel_log.h"
#include "os/system_env.h"

namespace stoker::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* off_bus = "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus.";
constexpr const char* repaired =
    "NVRM: Xid (PCI:0000:20:00): 63, pid=7, name=train, Row Remapper: New row marked for remapping";

store::Snapshot node_of(std::uint32_t gpus) {
  store::Snapshot snapshot;
  snapshot.hostname = "node-1";
  snapshot.source.state = device::SourceState::running;
  for (std::uint32_t n = 0; n < gpus; ++n) {
    store::GpuSnapshot gpu;
    gpu.info.index = n;
    gpu.info.pci = {0, static_cast<std::uint8_t>(0x10 * (n + 1)), 0, 0};
    gpu.info.uuid = "GPU-" + std::to_string(n);
    gpu.readings.set(FieldId::power, Reading::of(100.0, MonotonicTime{Seconds(1)}));
    snapshot.gpus.push_back(std::move(gpu));
  }
  return snapshot;
}

class Desk : public ::testing::Test {
 protected:
  Desk() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-desk-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    snapshot_ = node_of(4);
    snapshot_.wall = clock_.wall();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return folder_ / "incidents.db"; }
  [[nodiscard]] std::string mark_file() const { return folder_ / "maintenance.json"; }
  std::unique_ptr<IncidentDesk> open(const std::string& boot = "boot-1") {
    return std::make_unique<IncidentDesk>(IncidentParts{.clock = clock_,
                                                        .snapshot = [this] { return snapshot_; },
                                                        .file = file(),
                                                        .maintenance_file = mark_file(),
                                                        .boot = boot,
                                                        .log = "/dev/kmsg",
                                                        .expected = {},
                                                        .checks = {}});
  }
  // What the kernel said so many seconds ago.
  std::vector<Event> said(const std::string& text, std::int64_t ago, std::uint64_t offset,
                          const std::string& boot = "boot-1") {
    event::EventParser parser;
    std::vector<Event> events;
    parser.read({.text = text, .program = "kernel", .kernel = true}, events);
    for (Event& event : events) {
      event.time = WallTime{clock_.wall().since_epoch - Seconds(ago)};
      event.origin = {boot, "/dev/kmsg", offset};
    }
    return events;
  }
  static std::vector<std::string> told(const IncidentDesk& desk) {
    std::vector<std::string> words;
    for (const auto& one : desk.kept()) {
      words.push_back(fmt::format("{} {} {} x{}", to_string(one.state), one.cause, one.entity.id,
                                  one.occurrences));
    }
    return words;
  }

  std::filesystem::path folder_;
  ManualClock clock_;
  store::Snapshot snapshot_;
};

TEST_F(Desk, WhatWasHeardBeforeARestartIsNotHeardAgain) {
  {
    const auto desk = open();
    desk->look();
    desk->on_events(said(off_bus, 0, 10));
  }
  clock_.advance(Seconds(60));
  const auto desk = open();
  desk->on_events(said(off_bus, 60, 10));
  desk->look();
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-off-bus GPU-0 x1"));
  desk->on_events(said(off_bus, 0, 11));
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-off-bus GPU-0 x2"));
}

TEST_F(Desk, LinesOfBeforeItsFirstStartOpenNothingThoseOfItsAbsenceDo) {
  {
    const auto desk = open();
    desk->on_events(said(off_bus, 3600, 10));
    desk->look();
    EXPECT_THAT(told(*desk), IsEmpty());
  }
  clock_.advance(Seconds(7200));
  const auto desk = open();
  desk->on_events(said(off_bus, 3600 + 7200, 10));
  desk->on_events(said(repaired, 1800, 11));
  desk->look();
  EXPECT_THAT(told(*desk), ElementsAre("open memory-repair GPU-1 x1"));
}

TEST_F(Desk, TheFirstLinesOfABootAreNewsWhereTheNodeWasWatchedBefore) {
  {
    const auto desk = open();
    desk->look();
  }
  clock_.advance(Seconds(86'400));
  const auto desk = open("boot-2");
  desk->on_events(said(off_bus, 3600, 3, "boot-2"));
  desk->look();
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-off-bus GPU-0 x1"));
}

TEST_F(Desk, AnEventWaitsUntilItsGpuIsKnown) {
  const auto listed = snapshot_;
  snapshot_.gpus.clear();
  snapshot_.source.state = device::SourceState::starting;
  const auto desk = open();
  desk->look();
  desk->on_events(said(off_bus, 0, 10));
  EXPECT_THAT(told(*desk), IsEmpty());
  snapshot_ = listed;
  desk->look();
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-off-bus GPU-0 x1"));
}

TEST_F(Desk, ALongLogThatWasHeardBeforeKeepsNoNewEventFromWaitingForItsGpu) {
  const auto listed = snapshot_;
  std::vector<Event> old;
  for (std::uint64_t n = 1; n <= 10'000; ++n) old.push_back(said(off_bus, 0, n).at(0));
  {
    const auto desk = open();
    desk->look();
    desk->on_events(old);
  }
  snapshot_.gpus.clear();
  snapshot_.source.state = device::SourceState::starting;
  const auto desk = open();
  desk->on_events(old);
  desk->on_events(said(repaired, 0, 10'001));
  snapshot_ = listed;
  desk->look();
  EXPECT_THAT(told(*desk),
              ElementsAre("open gpu-off-bus GPU-0 x10000", "open memory-repair GPU-1 x1"));
}

TEST_F(Desk, ALineThatAProgramWroteIsShownAsSuchAndAsksForNothing) {
  const auto desk = open();
  desk->look();
  auto events = said(off_bus, 0, 10);
  events[0].details.push_back({"writer", "program"});
  desk->on_events(events);
  ASSERT_EQ(desk->kept().size(), 1U);
  const auto one = desk->kept()[0];
  EXPECT_EQ(one.severity, Severity::warning);
  EXPECT_EQ(one.action, Action::observe);
  EXPECT_EQ(one.cause, "kernel-log-trial");
  EXPECT_THAT(one.message, HasSubstr("written into the kernel log by a program"));
  // What the kernel itself says is an incident of its own.
  desk->on_events(said(off_bus, 0, 11));
  EXPECT_EQ(desk->kept().size(), 2U);
  EXPECT_EQ(desk->kept()[1].severity, Severity::critical);
}

TEST_F(Desk, WhatWaitsForTheEndOfAMaintenanceIsToldAfterAKillTooAndOnce) {
  constexpr const char* firmware =
      "NVRM: Xid (PCI:0000:20:00): 62, pid=7, name=train, 27c2 00009a58 00000000";
  {
    const auto desk = open();
    desk->look();
    ASSERT_TRUE(desk->change_maintenance({.length = Seconds(600), .who = "root", .why = "x"}));
    desk->on_events(said(firmware, 0, 10));
    ASSERT_TRUE(desk->save());
  }
  clock_.advance(Seconds(60));
  {
    const auto desk = open();
    ASSERT_TRUE(desk->maintenance());
    EXPECT_EQ(desk->maintenance()->until, WallTime{clock_.wall().since_epoch + Seconds(540)});
    desk->look();
    desk->on_events(said(firmware, 60, 10));
    EXPECT_THAT(told(*desk), IsEmpty());
  }
  clock_.advance(Seconds(600));
  {
    const auto desk = open();
    desk->look();
    EXPECT_FALSE(desk->maintenance());
    desk->on_events(said(firmware, 660, 10));
    EXPECT_THAT(told(*desk), ElementsAre("open gpu-firmware GPU-1 x1"));
  }
  EXPECT_FALSE(std::filesystem::exists(mark_file()));
  const auto desk = open();
  desk->look();
  desk->on_events(said(firmware, 660, 10));
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-firmware GPU-1 x1"));
}

TEST_F(Desk, AMaintenanceThatCanNotBeKeptDoesNotBeginAndAFileThatIsNoneHoldsNothingBack) {
  std::ofstream(mark_file()) << "{\"schema\":";
  {
    const auto desk = open();
    EXPECT_FALSE(desk->maintenance());
    ASSERT_EQ(desk->problems().size(), 1U);
    EXPECT_EQ(desk->problems()[0].rule, "maintenance-not-kept");
    ASSERT_TRUE(desk->change_maintenance({.length = Seconds(600), .who = "root", .why = "x"}));
    EXPECT_THAT(desk->problems(), IsEmpty());
  }
  std::filesystem::remove(mark_file());
  std::filesystem::create_directory(mark_file());
  const auto desk = open();
  const auto begun = desk->change_maintenance({.length = Seconds(600), .who = "root", .why = "x"});
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().message(), HasSubstr("does not begin"));
  EXPECT_FALSE(desk->maintenance());
}

TEST_F(Desk, TheSecondLookComesAfterARestartTooAndIsKept) {
  {
    const auto desk = open();
    desk->look();
    desk->on_events(said(off_bus, 0, 10));
    desk->look();
    ASSERT_EQ(desk->kept()[0].looks.size(), 1U);
  }
  clock_.advance(Seconds(400));
  {
    const auto desk = open();
    desk->look();
    ASSERT_EQ(desk->kept()[0].looks.size(), 2U);
    EXPECT_TRUE(desk->kept()[0].looks[1].late);
  }
  const auto looks = open()->kept()[0].looks;
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks[1].kind, LookKind::afterwards);
}

TEST_F(Desk, LooksGoOnWhileAWriteHangs) {
  std::atomic<int> looks = 0;
  std::atomic<bool> goes_on = false;
  std::atomic<bool> hangs = false;
  IncidentDesk desk({.clock = clock_,
                     .snapshot =
                         [&] {
                           ++looks;
                           return snapshot_;
                         },
                     .file = file(),
                     .boot = "boot-1",
                     .log = "/dev/kmsg",
                     .expected = {},
                     .checks = {},
                     .on_saved =
                         [&](const std::vector<Incident>&) {
                           hangs = true;
                           hangs.notify_all();
                           goes_on.wait(false);
                         }});
  desk.look();
  desk.on_events(said(off_bus, 0, 10));
  desk.start();
  hangs.wait(false);
  const int before = looks;
  while (looks < before + 2) std::this_thread::sleep_for(Milliseconds(5));
  goes_on = true;
  goes_on.notify_all();
  desk.stop();
}

TEST_F(Desk, AFolderThatIsNoLongerOursIsSaidBeforeAnythingIsLostInIt) {
  bool ours = false;
  IncidentDesk desk({.clock = clock_,
                     .snapshot = [this] { return snapshot_; },
                     .file = file(),
                     .boot = "boot-1",
                     .log = "/dev/kmsg",
                     .expected = {},
                     .checks = {},
                     .may_save = [&ours]() -> Result<void> {
                       if (ours) return {};
                       return fail(ErrorCode::unavailable, "the folder was removed");
                     }});
  EXPECT_FALSE(desk.save());
  ASSERT_EQ(desk.problems().size(), 1U);
  EXPECT_EQ(desk.problems()[0].rule, "incidents-not-kept");
  EXPECT_THAT(desk.problems()[0].evidence, Contains(HasSubstr("the folder was removed")));
  desk.look();
  desk.on_events(said(off_bus, 0, 10));
  EXPECT_FALSE(desk.save());
  EXPECT_THAT(told(desk), ElementsAre("open gpu-off-bus GPU-0 x1"));
  ours = true;
  EXPECT_TRUE(desk.save());
  EXPECT_THAT(desk.problems(), IsEmpty());
}

TEST_F(Desk, AFileThatIsNoDatabaseIsPutAsideAndSaid) {
  std::ofstream(file()) << std::string(4096, 'x');
  const auto desk = open();
  const auto problems = desk->problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].rule, "incidents-unreadable");
  EXPECT_THAT(problems[0].evidence.back(), HasSubstr(".unreadable-"));
  desk->look();
  desk->on_events(said(off_bus, 0, 10));
  desk->save();
  EXPECT_THAT(told(*open()), ElementsAre("open gpu-off-bus GPU-0 x1"));
}

TEST_F(Desk, WhereNothingCanBeKeptThatIsSaidAndIncidentsAreToldAllTheSame) {
  std::filesystem::create_directories(file());
  const auto desk = open();
  ASSERT_EQ(desk->problems().size(), 1U);
  EXPECT_EQ(desk->problems()[0].rule, "incidents-not-kept");
  desk->look();
  desk->on_events(said(off_bus, 0, 10));
  EXPECT_THAT(told(*desk), ElementsAre("open gpu-off-bus GPU-0 x1"));
}

int kills() {
  const char* wanted = std::getenv("STOKER_KILLS");
  return wanted == nullptr ? 30 : std::atoi(wanted);
}

// A kernel log that grows, and agents that follow it and are killed at any moment.
class KilledDesk : public Desk {
 protected:
  KilledDesk() {
    std::filesystem::create_directories(folder_ / "dev");
    env_ = os::make_system_env("/", folder_.string());
  }

  void storm(int lines) {
    std::ofstream log(folder_ / "dev/kmsg", std::ios::app);
    for (int n = 0; n < lines; ++n) {
      ++written_;
      const auto microseconds =
          system_clock().monotonic().since_boot / std::chrono::microseconds(1);
      log << fmt::format("4,{},{},-;NVRM: Xid (PCI:0000:{:x}0:00): 119, pid=20, name=x, Timeout\n",
                         written_, microseconds, 1 + written_ % 4);
    }
  }
  [[nodiscard]] std::unique_ptr<IncidentDesk> open_real() {
    return std::make_unique<IncidentDesk>(IncidentParts{.clock = system_clock(),
                                                        .snapshot = [this] { return snapshot_; },
                                                        .file = file(),
                                                        .boot = {},
                                                        .log = "/dev/kmsg",
                                                        .expected = {},
                                                        .checks = {}});
  }
  [[nodiscard]] std::unique_ptr<event::KernelLog> follow(IncidentDesk& desk) {
    auto log = std::make_unique<event::KernelLog>(event::KernelLogParts{
        .env = env_,
        .tell = [&desk](const std::vector<Event>& events) { desk.on_events(events); },
        .tell_source = [](const EventSource&) {}});
    log->start();
    return log;
  }
  [[noreturn]] void run_until_killed() {
    const auto desk = open_real();
    desk->start();
    const auto log = follow(*desk);
    while (true) pause();
  }

  std::shared_ptr<os::Env> env_;
  std::uint64_t written_ = 0;
};

TEST_F(KilledDesk, LosesNoIncidentAndCountsNoLineTwice) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<unsigned> microseconds(0, 40'000);
  std::uniform_int_distribution<int> lines(1, 40);
  storm(4);
  for (int n = 0; n < kills(); ++n) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_until_killed();
    for (int burst = 0; burst < 4; ++burst) {
      storm(lines(random));
      usleep(microseconds(random));
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  const auto desk = open_real();
  desk->look();
  const auto log = follow(*desk);
  const auto heard = [&desk] {
    std::uint64_t sum = 0;
    for (const auto& one : desk->kept()) sum += one.occurrences;
    return sum;
  };
  const auto until = system_clock().monotonic() + Seconds(60);
  while (heard() < written_ && system_clock().monotonic() < until) usleep(10'000);
  log->stop();
  EXPECT_EQ(heard(), written_);
  EXPECT_EQ(desk->kept().size(), 4U);
  EXPECT_THAT(desk->problems(), IsEmpty());
}

}  // namespace
}  // namespace stoker::app
