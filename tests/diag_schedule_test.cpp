// The agent's schedule for idle cards, by the built program: idle cards are tested and busy ones are not, a run makes room for
// a job, and what failed is an incident until it passes.
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "db/diag_db.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using namespace std::chrono_literals;

// The child of this process that is such a verb; 0: there is none.
int child_of(int parent, const std::string& verb) {
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::istringstream children(read_text(task.path() / "children"));
    for (std::string pid; children >> pid;) {
      if (read_text("/proc/" + pid + "/cmdline").starts_with("stoker " + verb))
        return std::stoi(pid);
    }
  }
  return 0;
}
// One that nobody has reaped is gone.
bool is_there(int pid) { return !read_text("/proc/" + std::to_string(pid) + "/cmdline").empty(); }

class DiagSchedule : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", data_}).status, 0);
    ASSERT_EQ(run_stoker({"sim", "load", "idle", "--data", data_}).status, 0);
  }
  [[nodiscard]] StokerProcess up(const std::string& idle, const std::string& level = "1") const {
    return StokerProcess({"up", "--sim", "hgx-h200x4", "--data", data_, "--listen", "127.0.0.1:0"},
                         {"STOKER_DIAG_IDLE=" + idle, "STOKER_DIAG_LEVEL=" + level,
                          "STOKER_SAMPLE_PERIOD_PROCESSES=200ms"});
  }
  // The level that the newest run on GPU 3 has made.
  [[nodiscard]] int made_level() const {
    const auto rows = kept();
    return rows.empty() || rows.front().gpu != 3 ? -1 : rows.front().made_level;
  }
  [[nodiscard]] std::vector<db::DiagRow> kept() const {
    if (!std::filesystem::exists(data_ + "/diag.db")) return {};
    auto file = db::DiagDb::open(data_ + "/diag.db");
    return file ? (*file)->find({}).value_or(std::vector<db::DiagRow>{})
                : std::vector<db::DiagRow>{};
  }
  [[nodiscard]] std::set<std::uint32_t> tested() const {
    std::set<std::uint32_t> out;
    for (const auto& row : kept()) out.insert(row.gpu);
    return out;
  }
  template <typename Done>
  static bool comes(Done done, std::chrono::seconds limit = 30s) {
    const auto until = std::chrono::steady_clock::now() + limit * slowdown;
    bool came = done();
    while (!came && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(50ms);
      came = done();
    }
    return came;
  }
  // As a run by hand would.
  void keep(const db::DiagRow& like, const std::string& started, const std::string& verdict) const {
    auto row = like;
    row.started = started;
    row.test = "memory_pattern";
    row.verdict = verdict;
    row.reason = "12 wrong words";
    auto file = db::DiagDb::open(data_ + "/diag.db");
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->save(std::vector{row}).has_value());
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data");
};

TEST_F(DiagSchedule, TestsIdleCardsOnceAndNeverOneThatIsUsed) {
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", data_, "--gpu", "1"}).status, 0);
  auto agent = up("1s");
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_TRUE(comes([&] { return tested().size() == 3; })) << agent.err();
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(tested(), (std::set<std::uint32_t>{0, 2, 3})) << agent.err();
  std::set<std::string> runs;
  for (const auto& row : kept()) {
    if (row.gpu == 0) runs.insert(row.started);
    EXPECT_TRUE(row.test.starts_with("state_")) << row.test;
  }
  EXPECT_EQ(runs.size(), 1U);  // and then not before a week is over
}

TEST_F(DiagSchedule, MakesAnIncidentOfWhatFailedUntilItPasses) {
  ASSERT_EQ(run_stoker({"diag", "--sim", "hgx-h200x4", "--data", data_, "--test", "pcie_latency",
                        "--gpu", "2"})
                .status,
            0);
  ASSERT_FALSE(kept().empty());
  const auto like = kept().front();
  keep(like, "2026-01-02T03:04:05.000Z", "fail");
  // None is idle, so that none is tested, and looks are short.
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", data_}).status, 0);
  auto agent = up("1s");
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto shown = [&] { return run_stoker({"incidents", "--agent", url}).out; };
  const auto status = [&] { return run_stoker({"status", "--agent", url}).out; };
  EXPECT_TRUE(comes([&] { return shown().find("failed-test") != std::string::npos; }, 15s));
  EXPECT_NE(status().find("failed memory_pattern: 12 wrong words"), std::string::npos) << status();
  keep(like, "2026-01-03T03:04:05.000Z", "not_tested");  // says nothing
  keep(like, "2026-01-03T03:04:06.000Z", "pass");
  EXPECT_TRUE(comes([&] { return status().find("memory_pattern") == std::string::npos; }, 25s))
      << status();
}

TEST_F(DiagSchedule, GivesUpWhenAJobComes) {
  StokerProcess process({"diag", "--sim", "hgx-h200x4", "--data", data_, "--while-idle", "--test",
                         "memory", "--gpu", "3", "--fault", "hang"});
  while (child_of(process.pid(), "worker") == 0 && !process.wait(1ms))
    std::this_thread::sleep_for(2ms);
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", data_, "--gpu", "3"}).status, 0);
  EXPECT_EQ(process.wait(30s), 2) << process.out();
  EXPECT_NE(process.out().find("given up: process"), std::string::npos) << process.out();
}

TEST_F(DiagSchedule, GivesUpWhereWhoeverStartedItIsNotItsParent) {
  const auto seen =
      run_stoker({"diag", "--sim", "hgx-h200x4", "--data", data_, "--while-idle", "--started-by",
                  std::to_string(::getpid() + 1), "--level", "2", "--gpu", "3"});
  EXPECT_EQ(seen.status, 2) << seen.out;
  EXPECT_NE(seen.out.find("given up: whoever started this is gone"), std::string::npos) << seen.out;
  EXPECT_TRUE(kept().empty());
}

TEST_F(DiagSchedule, LeavesNothingBehindWhereItsAgentIsKilled) {
  auto agent = up("1s", "2");
  ASSERT_NE(agent.wait_ready(), "") << agent.err();
  int child = 0;
  int worker = 0;
  ASSERT_TRUE(comes([&] {
    if (child == 0) child = child_of(agent.pid(), "diag");
    if (child != 0) worker = child_of(child, "worker");
    return worker != 0;
  })) << agent.err();
  ::kill(agent.pid(), SIGKILL);
  EXPECT_TRUE(comes([&] { return !is_there(child) && !is_there(worker); }));
  EXPECT_TRUE(kept().empty());
}

TEST_F(DiagSchedule, LeavesNoWorkerWhoseCallDoesNotComeBackWhereTheRunIsKilled) {
  StokerProcess process({"diag", "--sim", "hgx-h200x4", "--data", data_, "--test", "memory",
                         "--gpu", "3", "--fault", "hang"});
  int worker = 0;
  ASSERT_TRUE(comes([&] { return (worker = child_of(process.pid(), "worker")) != 0; }));
  std::this_thread::sleep_for(200ms);  // it has its plan
  ::kill(process.pid(), SIGKILL);
  EXPECT_TRUE(comes([&] { return !is_there(worker); }));
}

TEST_F(DiagSchedule, SaysOfAWorkerThatDiedHalfwayThatItMadeNoLevel) {
  const std::vector<std::string> level2 = {"diag",    "--sim", "hgx-h200x4", "--data", data_,
                                           "--level", "2",     "--gpu",      "3"};
  StokerProcess process(level2);
  ASSERT_TRUE(comes([&] {
    const int worker = child_of(process.pid(), "worker");
    if (worker != 0) ::kill(worker, SIGKILL);
    return worker != 0;
  }));
  EXPECT_EQ(process.wait(30s), 2) << process.out();
  EXPECT_EQ(made_level(), 0);
  EXPECT_EQ(run_stoker(level2).status, 0);
  EXPECT_EQ(made_level(), 2);
  EXPECT_EQ(run_stoker({"diag", "--sim", "hgx-h200x4", "--data", data_, "--gpu", "3", "--test",
                        "pcie_latency"})
                .status,
            0);
  EXPECT_EQ(made_level(), 0);
}

TEST_F(DiagSchedule, TellsInItsStatusWhenACardIsTested) {
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", data_, "--gpu", "1"}).status, 0);
  auto agent = up("1s");
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto status = [&] { return run_stoker({"status", "--agent", url, "-o", "json"}).out; };
  EXPECT_TRUE(comes([&] { return tested().size() == 3; })) << agent.err();
  EXPECT_TRUE(comes([&] { return status().find("\"end\": \"passed\"") != std::string::npos; }))
      << status();
  EXPECT_NE(status().find("\"state\": \"in_use\""), std::string::npos) << status();
}

}  // namespace
}  // namespace stoker::test
