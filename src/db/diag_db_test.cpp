// Results are kept by card, newest first, and no more runs than there is room for.
#include "db/diag_db.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <fstream>
#include <thread>

namespace stoker::db {
namespace {

class DiagDbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "stoker-diag-db-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file() const { return folder_ / "diag.db"; }
  static DiagRow row(const std::string& started, const std::string& card, double value) {
    return {.started = started,
            .card = card,
            .uuid = "GPU-" + card,
            .product = "NVIDIA H200",
            .driver = "580.159.04",
            .gpu = 3,
            .test = "memory_read",
            .verdict = "pass",
            .value = value,
            .unit = "bytes_per_second"};
  }
  std::filesystem::path folder_;
};

TEST_F(DiagDbTest, GivesBackWhatWasSavedNewestFirstAlsoToANewProcess) {
  auto db = DiagDb::open(file());
  ASSERT_TRUE(db.has_value()) << db.error().describe();
  ASSERT_TRUE((*db)->save(std::vector{row("1", "A", 4.5e12), row("1", "B", 4.4e12)}).has_value());
  DiagRow none = row("2", "A", 0);
  none.value.reset();
  none.verdict = "not_tested";
  ASSERT_TRUE((*db)->save(std::vector{none}).has_value());
  db->reset();
  auto again = DiagDb::open(file());
  ASSERT_TRUE(again.has_value());
  const auto of_a = (*again)->find({.card = "A"});
  ASSERT_TRUE(of_a.has_value());
  ASSERT_EQ(of_a->size(), 2U);
  EXPECT_EQ(of_a->front().started, "2");
  EXPECT_FALSE(of_a->front().value.has_value());
  EXPECT_EQ(of_a->back().value, 4.5e12);
  EXPECT_EQ(of_a->back().gpu, 3U);
  EXPECT_EQ((*again)->find({.card = "GPU-B"})->size(), 1U);
  EXPECT_EQ((*again)->find({.test = "pcie_both"})->size(), 0U);
  EXPECT_EQ((*again)->find({.most = 1})->size(), 1U);
}

TEST_F(DiagDbTest, IsMadeOnceByManyThatFindNoFile) {
  constexpr int rounds = 10;
  constexpr int together = 4;
  for (int round = 0; round < rounds; ++round) {
    const std::string path = file() + std::to_string(round);
    std::vector<std::string> problems(together);
    {
      std::barrier start(together);
      std::vector<std::jthread> threads;
      threads.reserve(together);
      for (std::string& problem : problems) {
        threads.emplace_back([&problem, &start, &path] {
          start.arrive_and_wait();
          auto db = DiagDb::open(path);
          const auto saved = db ? (*db)->save(std::vector{row("1", "A", 1)}) : Result<void>();
          if (!db) problem = db.error().describe();
          if (!saved) problem = saved.error().describe();
        });
      }
    }
    for (const auto& problem : problems) EXPECT_EQ(problem, "");
    auto db = DiagDb::open(path);
    ASSERT_TRUE(db.has_value());
    EXPECT_EQ((*db)->find({})->size(), static_cast<std::size_t>(together));
  }
}

TEST_F(DiagDbTest, KeepsTheCardsOfABoardThatShareItsSerialNumberApart) {
  auto db = DiagDb::open(file());
  ASSERT_TRUE(db.has_value()) << db.error().describe();
  auto first = row("1", "BOARD", 1);
  auto second = row("2", "BOARD", 2);
  first.uuid = "GPU-first";
  second.uuid = "GPU-second";
  auto nameless = row("3", "BOARD", 3);
  nameless.uuid = "";
  for (const auto& one : {first, second, nameless})
    ASSERT_TRUE((*db)->save(std::vector{one}).has_value());
  const auto values = [&](const DiagGpu& gpu) {
    std::vector<double> out;
    const auto rows = (*db)->find({.gpu = gpu}).value();
    for (const auto& one : rows) out.push_back(one.value.value_or(0));
    return out;
  };
  EXPECT_EQ(values({"GPU-first", "BOARD"}), (std::vector<double>{3, 1}));
  EXPECT_EQ(values({"GPU-second", ""}), (std::vector<double>{2}));
  EXPECT_EQ(values({"", "BOARD"}), (std::vector<double>{3}));
  EXPECT_EQ(values({"", ""}), (std::vector<double>{}));
  EXPECT_EQ((*db)->find({.card = "BOARD"})->size(), 3U);  // as people ask
}

TEST_F(DiagDbTest, ReadsAFileOfBeforeRunsSaidWhatTheyMade) {
  {
    SQLite::Database old(file(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    old.exec(R"(
      CREATE TABLE diag_run (id INTEGER PRIMARY KEY, started TEXT NOT NULL, driver TEXT NOT NULL);
      CREATE TABLE diag_result (run INTEGER NOT NULL REFERENCES diag_run ON DELETE CASCADE,
        card TEXT NOT NULL, uuid TEXT NOT NULL, product TEXT NOT NULL, gpu INTEGER NOT NULL,
        test TEXT NOT NULL, verdict TEXT NOT NULL, value REAL, unit TEXT NOT NULL, power_watts REAL,
        reason TEXT NOT NULL);
      INSERT INTO diag_run VALUES (1, '2026-01-02T03:04:05.000Z', '580');
      INSERT INTO diag_result VALUES (1, 'A', 'GPU-A', 'H200', 0, 'memory_read', 'pass', 4e12, '', NULL, '');
      PRAGMA user_version = 1;)");
  }
  auto db = DiagDb::open(file());
  ASSERT_TRUE(db.has_value()) << db.error().describe();
  auto newer = row("2026-01-03T03:04:05.000Z", "A", 4.1e12);
  newer.made_level = 2;
  ASSERT_TRUE((*db)->save(std::vector{newer}).has_value());
  const auto rows = (*db)->find({.gpu = DiagGpu{"GPU-A", "A"}});
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->front().made_level, 2);
  EXPECT_EQ(rows->back().made_level, 0);
}

TEST_F(DiagDbTest, KeepsTheLastTurnsOfEachCard) {
  {
    auto db = DiagDb::open(file());
    ASSERT_TRUE(db.has_value());
    EXPECT_TRUE((*db)->turns()->empty());
    const DiagTurn passed{"GPU-A", "t1", "passed", "", 1, true};
    DiagTurn given_up{"GPU-A", "t2", "given_up", "process 42", 1};
    ASSERT_TRUE((*db)->save_turns("GPU-A", std::vector{passed, given_up}));
    given_up.in_a_row = 2;
    ASSERT_TRUE((*db)->save_turns("GPU-A", std::vector{given_up}));
    ASSERT_TRUE((*db)->save_turns("GPU-B", std::vector{passed}));
  }
  auto db = DiagDb::open(file());
  const auto turns = (*db)->turns();
  ASSERT_TRUE(turns.has_value());
  ASSERT_EQ(turns->size(), 2U);
  EXPECT_EQ(turns->front().uuid, "GPU-A");
  EXPECT_EQ(turns->front().in_a_row, 2);
  EXPECT_EQ(turns->front().reason, "process 42");
  EXPECT_FALSE(turns->front().kept);
  EXPECT_EQ(turns->back().uuid, "GPU-B");
  EXPECT_TRUE(turns->back().kept);
}

TEST_F(DiagDbTest, RefusesWhatIsNoDatabase) {
  std::ofstream(file()) << "no database at all, but long enough to be looked at as one";
  const auto db = DiagDb::open(file());
  ASSERT_FALSE(db.has_value());
  EXPECT_EQ(db.error().code(), ErrorCode::corrupt);
}

TEST_F(DiagDbTest, RefusesAFileOfANewerStoker) {
  {
    ASSERT_TRUE(DiagDb::open(file()).has_value());
  }
  SQLite::Database(file(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  const auto db = DiagDb::open(file());
  ASSERT_FALSE(db.has_value());
  EXPECT_EQ(db.error().code(), ErrorCode::not_supported);
}

}  // namespace
}  // namespace stoker::db
