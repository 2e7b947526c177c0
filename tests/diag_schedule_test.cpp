// The agent's schedule for idle cards, by the built program: idle cards are tested and busy ones are not, a run makes room for
// a job, and what failed is an incident until it passes.
#include <gtest/gtest.h>

#include <set>

#include "db/diag_db.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using namespace std::chrono_literals;

class DiagSchedule : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", data_}).status, 0);
    ASSERT_EQ(run_stoker({"sim", "load", "idle", "--data", data_}).status, 0);
  }
  [[nodiscard]] StokerProcess up(const std::string& idle) const {
    return StokerProcess({"up", "--sim", "hgx-h200x4", "--data", data_, "--listen", "127.0.0.1:0"},
                         {"STOKER_DIAG_IDLE=" + idle, "STOKER_SAMPLE_PERIOD_PROCESSES=200ms"});
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
    while (!done() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(50ms);
    return done();
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
  auto agent = up("12h");
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
  const auto worker_there = [&] {
    std::istringstream children(read_text("/proc/" + std::to_string(process.pid()) + "/task/" +
                                          std::to_string(process.pid()) + "/children"));
    for (std::string pid; children >> pid;) {
      if (read_text("/proc/" + pid + "/cmdline").starts_with("stoker worker")) return true;
    }
    return false;
  };
  while (!worker_there() && !process.wait(1ms)) std::this_thread::sleep_for(2ms);
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", data_, "--gpu", "3"}).status, 0);
  EXPECT_EQ(process.wait(30s), 2) << process.out();
  EXPECT_NE(process.out().find("given up: process"), std::string::npos) << process.out();
}

}  // namespace
}  // namespace stoker::test
