#include "history/keeper.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "history/history_test_support.h"

namespace stoker::history {
namespace {

class HistoryFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "historyXXXXXX";
    folder = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::string path() const { return folder / "history"; }

  std::filesystem::path folder;
};

TEST_F(HistoryFile, IsReadBackByTheNextRun) {
  {
    Watched node;
    Keeper keeper(node.history, path());
    keeper.start();
    node.read_each_second(100, 40);
    keeper.stop();
  }
  Watched later;
  const Keeper keeper(later.history, path());
  EXPECT_EQ(later.ask(Seconds(3600), Step::readings).front().mean, 40);
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
}

TEST_F(HistoryFile, ThatCantBeReadIsPutAsideAndNothingIsInvented) {
  {
    Watched node;
    node.read_each_second(100, 40);
    ASSERT_TRUE(save(node.history, path()));
  }
  const auto size = std::filesystem::file_size(path());
  for (const auto kept : {size - 1, size / 2, std::uintmax_t{1}, std::uintmax_t{0}}) {
    std::filesystem::copy_file(path(), path() + ".cut",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path() + ".cut", kept);
    Watched later;
    const Keeper keeper(later.history, path() + ".cut");
    EXPECT_EQ(later.history.facts().series, 0U);
    EXPECT_TRUE(std::filesystem::exists(path() + ".cut.bad"));
    EXPECT_FALSE(std::filesystem::exists(path() + ".cut"));
  }
}

TEST_F(HistoryFile, OfAnotherAgentIsLeftAloneAndTheReasonIsTold) {
  std::string told;
  Watched node;
  Keeper keeper(
      node.history, path(),
      {.may_save = []() -> Result<void> { return fail(ErrorCode::unavailable, "not ours"); },
       .on_change =
           [&](const Result<void>& saved) { told = saved ? "saved" : saved.error().message(); }});
  keeper.start();
  node.read_each_second(100, 40);
  keeper.stop();
  EXPECT_EQ(told, "not ours");
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(HistoryFile, ThatIsAPipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((path() + ".new").c_str(), 0600), 0);
  Watched node;
  Keeper keeper(node.history, path());
  keeper.start();
  node.read_each_second(10, 40);
  keeper.stop();
  EXPECT_TRUE(std::filesystem::is_regular_file(path()));
  EXPECT_TRUE(std::filesystem::exists(path() + ".bad"));
}

TEST_F(HistoryFile, WithAChangedByteIsRefused) {
  Watched node;
  node.read_each_second(100, 40);
  ASSERT_TRUE(save(node.history, path()));
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path()) / 2));
  const int byte = file.peek();
  file.put(static_cast<char>(byte ^ 0x20));
  file.close();
  Watched later;
  const auto loaded = load(later.history, path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::corrupt);
}

TEST_F(HistoryFile, ThatCantBeWrittenLeavesTheOldOneAndSaysWhy) {
  Watched node;
  node.read_each_second(10, 40);
  const auto saved = save(node.history, (folder / "missing" / "history").string());
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().describe().find("missing/history"), std::string::npos);
}

}  // namespace
}  // namespace stoker::history
