// The schedule for idle cards with a child of its own making: what counts as a test, what ends one, what is said of it, and
// what a restart remembers.
#include "diag_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "base/thread_safety.h"
#include "diag_findings.h"

namespace stoker::app {
namespace {

using config::OptionId;

constexpr Nanoseconds soon = Milliseconds(300);

class DiagScheduleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "stoker-schedule-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    settings_.set(OptionId::diag_idle, soon, {});
    settings_.set(OptionId::diag_level, std::string("2"), {});
  }
  void TearDown() override {
    schedule_.reset();
    std::filesystem::remove_all(folder_);
  }

  // What the child does: lines of sh(1).
  void child_does(const std::string& lines) const {
    std::ofstream(path("child")) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(path("child"), std::filesystem::perms::owner_all);
  }
  void start() {
    schedule_.emplace(DiagScheduleParts{.snapshot = [this] { return snapshot(); },
                                        .incidents =
                                            [this] {
                                              const MutexLock lock(mutex_);
                                              return incidents_;
                                            },
                                        .in_maintenance = [this] { return maintenance_.load(); },
                                        .tell =
                                            [this](std::vector<Finding> found) {
                                              const MutexLock lock(mutex_);
                                              found_ = std::move(found);
                                            },
                                        .show =
                                            [this](TestSchedule tests) {
                                              const MutexLock lock(mutex_);
                                              shown_ = std::move(tests);
                                            },
                                        .settings = settings_,
                                        .data = folder_.string(),
                                        .program = path("child"),
                                        .run_within = run_within_,
                                        .killed_after = soon});
    schedule_->start();
  }
  // As the agent's end and its next start.
  void restart() {
    schedule_.reset();
    {
      const MutexLock lock(mutex_);
      found_.clear();
      shown_ = {};
    }
    start();
  }

  // An idle card, as the driver tells of it at this moment.
  store::Snapshot snapshot() {
    store::Snapshot now;
    now.taken_at = system_clock().monotonic();
    now.wall = system_clock().wall();
    now.source.state = device::SourceState::running;
    store::GpuSnapshot gpu;
    gpu.info.uuid = uuid;
    gpu.info.serial = "BOARD";
    gpu.process_outcome = Reading::of(std::int64_t{0}, now.taken_at);
    for (const FieldId id : {FieldId::utilization, FieldId::memory_used})
      gpu.readings.set(id, Reading::of(std::int64_t{0}, now.taken_at));
    now.gpus = {gpu};
    const MutexLock lock(mutex_);
    now.attribution = attribution_;
    return now;
  }
  CardTests card() {
    const MutexLock lock(mutex_);
    return shown_.cards.empty() ? CardTests{} : shown_.cards.front();
  }
  std::vector<Finding> found() {
    const MutexLock lock(mutex_);
    return found_;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name)).rdbuf();
    return out.str();
  }
  // How often the child was started; it writes that down itself.
  [[nodiscard]] std::size_t runs() const {
    const auto text = text_of("runs");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  [[nodiscard]] std::string count_runs() const { return "echo $$ >> " + path("runs") + "; "; }
  void keep(const std::string& test, int made_level, const std::string& verdict = "pass",
            const std::string& of = uuid) const {
    auto file = db::DiagDb::open(path("diag.db"));
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->save(std::vector{db::DiagRow{.started = format_utc(system_clock().wall()),
                                                      .card = "BOARD",
                                                      .uuid = of,
                                                      .test = test,
                                                      .verdict = verdict,
                                                      .made_level = made_level}}));
  }
  template <typename Done>
  static bool comes(Done done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (!done() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return done();
  }
  bool ends_as(TestRunEnd end) {
    return comes([&] { return card().last && card().last->end == end; });
  }

  static constexpr const char* uuid = "GPU-0";
  std::filesystem::path folder_;
  config::Settings settings_;
  Nanoseconds run_within_ = Seconds(60);
  std::atomic<bool> maintenance_ = false;
  Mutex mutex_;
  std::shared_ptr<const Attribution> attribution_ GUARDED_BY(mutex_);
  std::vector<Incident> incidents_ GUARDED_BY(mutex_);
  std::vector<Finding> found_ GUARDED_BY(mutex_);
  TestSchedule shown_ GUARDED_BY(mutex_);
  std::optional<DiagSchedule> schedule_;
};

TEST_F(DiagScheduleTest, CountsOnlyARunThatMadeTheTestsOfTheLevel) {
  child_does(count_runs() + "exit 0");
  keep("pcie_latency", 0);  // one test by hand, or a worker that died halfway
  keep("state_ecc", 1);
  start();
  ASSERT_TRUE(comes([this] { return runs() == 1; }));
  ASSERT_TRUE(ends_as(TestRunEnd::passed));
  EXPECT_TRUE(card().tested.has_value());
  EXPECT_TRUE(card().next.has_value());
  keep("memory_pattern", 2);
  restart();
  ASSERT_TRUE(comes([this] { return card().tested.has_value(); }));
  std::this_thread::sleep_for(3 * soon);
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(card().state, TestState::waits);
}

TEST_F(DiagScheduleTest, TakesNoRowOfAnotherCardOfTheBoardForOneOfThisCard) {
  child_does(count_runs() + "exit 0");
  keep("memory_pattern", 2, "pass", "GPU-1");
  keep("memory_pattern", 2, "fail", "GPU-1");
  start();
  ASSERT_TRUE(comes([this] { return runs() == 1; }));
  EXPECT_TRUE(found().empty());
}

TEST_F(DiagScheduleTest, SaysWhyARunWasGivenUpAndHowOftenAlsoAfterARestart) {
  child_does("printf 'given_up process 42 (python3) is on GPU 0' >&3; exit 2");
  settings_.set(OptionId::diag_every, soon, {});  // tried again so soon
  start();
  ASSERT_TRUE(ends_as(TestRunEnd::given_up));
  EXPECT_EQ(card().last->reason, "process 42 (python3) is on GPU 0");
  EXPECT_TRUE(comes([this] { return card().last->in_a_row == 2; }));
  settings_.set(OptionId::diag_every, Nanoseconds(Seconds(3600)), {});
  restart();
  EXPECT_TRUE(comes([this] { return card().last && card().last->in_a_row >= 3; }));
  EXPECT_TRUE(comes([this] { return card().next.has_value(); }));
  EXPECT_TRUE(found().empty());  // room was made for a job
  EXPECT_FALSE(card().tested.has_value());
}

TEST_F(DiagScheduleTest, TellsACardThatCantBeTestedFromTheSecondTimeOnAndRemembersThat) {
  child_does("printf 'not_made memory_pattern: the worker ended' >&3; exit 2");
  start();
  ASSERT_TRUE(ends_as(TestRunEnd::not_made));
  EXPECT_TRUE(found().empty());
  restart();
  ASSERT_TRUE(comes([this] { return found().size() == 1; }));
  EXPECT_EQ(found().front().rule, "diag-not-made");
  EXPECT_NE(found().front().message.find("memory_pattern: the worker ended"), std::string::npos);
  settings_.set(OptionId::diag_idle, Nanoseconds(Seconds(3600)), {});
  restart();
  EXPECT_TRUE(comes([this] { return found().size() == 1; }));
  keep("memory_pattern", 2);  // by hand
  restart();
  EXPECT_TRUE(comes([this] { return card().tested.has_value(); }));
  EXPECT_TRUE(found().empty());
}

TEST_F(DiagScheduleTest, SaysThatWhatFailedIsNotKept) {
  child_does("exit 1");
  start();
  ASSERT_TRUE(ends_as(TestRunEnd::failed));
  ASSERT_TRUE(comes([this] { return found().size() == 1; }));
  EXPECT_EQ(found().front().rule, "diag-failed");
  EXPECT_NE(found().front().message.find("is not kept"), std::string::npos);
  keep("memory_pattern", 2);  // by hand
  EXPECT_TRUE(comes([this] { return found().empty(); }));
}

TEST_F(DiagScheduleTest, EndsAndKillsARunThatDoesNotEndInTime) {
  run_within_ = soon;
  child_does("trap '' TERM; while :; do sleep 0.1; done");
  start();
  ASSERT_TRUE(ends_as(TestRunEnd::not_ended));
  ASSERT_TRUE(comes([this] { return found().size() == 1; }));  // at once
  EXPECT_EQ(found().front().rule, "diag-not-made");
  EXPECT_NE(found().front().message.find("did not end within"), std::string::npos);
}

TEST_F(DiagScheduleTest, AsksARunToEndWhenTheAgentEnds) {
  child_does("trap 'echo asked > " + path("asked") + "; exit 2' TERM; " + count_runs() +
             "while :; do sleep 0.05; done");
  start();
  ASSERT_TRUE(comes([this] { return runs() == 1; }));
  const auto began = std::chrono::steady_clock::now();
  schedule_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(6));
  EXPECT_EQ(text_of("asked"), "asked\n");
  ASSERT_TRUE(card().last.has_value());
  EXPECT_EQ(card().last->reason, "the agent ends");
}

TEST_F(DiagScheduleTest, EndsARunForAPodThatGetsTheCardAnIncidentOrAMaintenance) {
  child_does("trap 'exit 2' TERM; " + count_runs() + "while :; do sleep 0.05; done");
  const std::vector<std::pair<std::string, std::function<void()>>> reasons = {
      {"pod team/train-0",
       [this] {
         Attribution told;
         told.pods.reason = Reason::ok;
         told.holds[uuid] = {{.holder = {.pod = "train-0", .pod_namespace = "team"}}};
         const MutexLock lock(mutex_);
         attribution_ = std::make_shared<const Attribution>(told);
       }},
      {"incident 7 (gpu-off-bus) is about it",
       [this] {
         const MutexLock lock(mutex_);
         attribution_.reset();
         incidents_ = {{.id = 7, .entity = {EntityKind::gpu, uuid}, .cause = "gpu-off-bus"}};
       }},
      {"a maintenance is planned", [this] {
         const MutexLock lock(mutex_);
         incidents_.clear();
         maintenance_ = true;
       }}};
  std::size_t begun = 0;
  for (const auto& [why, happens] : reasons) {
    start();
    ASSERT_TRUE(comes([&] { return runs() > begun && card().state == TestState::runs; })) << why;
    begun = runs();
    happens();
    ASSERT_TRUE(comes([&, &text = why] { return card().last && card().last->reason == text; }))
        << why;
    EXPECT_EQ(card().last->end, TestRunEnd::given_up);
    {
      const MutexLock lock(mutex_);
      incidents_.clear();
      attribution_.reset();
    }
    schedule_.reset();
    std::filesystem::remove(path("diag.db"));
  }
}

TEST_F(DiagScheduleTest, IsIdleFromTheEndOfAMaintenanceOn) {
  child_does(count_runs() + "exit 0");
  settings_.set(OptionId::diag_idle, Nanoseconds(Milliseconds(900)), {});
  maintenance_ = true;
  start();
  ASSERT_TRUE(comes([this] { return card().state == TestState::maintenance; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));  // also its share of the spread
  const auto over = std::chrono::steady_clock::now();
  maintenance_ = false;
  ASSERT_TRUE(comes([this] { return runs() == 1; }));
  EXPECT_GE(std::chrono::steady_clock::now() - over, std::chrono::milliseconds(850));
}

TEST_F(DiagScheduleTest, GivesItsChildTheOptionsInForceAndNotTheVariablesOfTheAgent) {
  child_does("env > " + path("seen") + "; echo \"$@\" > " + path("flags") + "; exit 0");
  ::setenv("STOKER_DIAG_LEVEL", "1", 1);
  ::setenv("STOKER_SCHEDULE_TEST", "kept", 1);
  start();
  EXPECT_TRUE(ends_as(TestRunEnd::passed));
  ::unsetenv("STOKER_DIAG_LEVEL");
  ::unsetenv("STOKER_SCHEDULE_TEST");
  EXPECT_EQ(text_of("seen").find("STOKER_DIAG_LEVEL="), std::string::npos);
  EXPECT_NE(text_of("seen").find("STOKER_SCHEDULE_TEST=kept"), std::string::npos);
  EXPECT_NE(text_of("flags").find("--fd 3"), std::string::npos) << text_of("flags");
}

TEST_F(DiagScheduleTest, TestsNothingWhileItsResultsCantBeRead) {
  child_does(count_runs() + "exit 0");
  std::filesystem::create_directory(path("diag.db"));
  start();
  ASSERT_TRUE(comes([this] { return card().state == TestState::unread; }));
  std::this_thread::sleep_for(3 * soon);
  EXPECT_EQ(runs(), 0U);
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(found().front().rule, "diag-unread");
}

}  // namespace
}  // namespace stoker::app
