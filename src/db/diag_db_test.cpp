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
