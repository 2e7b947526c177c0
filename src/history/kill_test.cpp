// A process that is killed while it saves leaves a whole history behind: the one before, or the new one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "history/history_test_support.h"
#include "history/keeper.h"

namespace stoker::history {
namespace {

int kills() {
  const char* wanted = std::getenv("STOKER_KILLS");
  return wanted == nullptr ? 40 : std::atoi(wanted);
}

// Each save holds one more second, so that an old history can be told from a new one.
[[noreturn]] void save_for_ever(const std::string& path) {
  Watched node(8);
  for (std::int64_t second = 0;; ++second) {
    for (unsigned gpu = 0; gpu < 8; ++gpu) node.read(second, FieldId::temperature, gpu);
    node.clock.advance(Seconds(1));
    if (!save(node.history, path)) _exit(1);
  }
}

TEST(HistoryKilled, WhileItIsSavedOpensWholeAndInOrder) {
  std::string name = testing::TempDir() + "killedXXXXXX";
  const std::filesystem::path folder = mkdtemp(name.data());
  const std::string path = folder / "history";
  // What one save takes here says when to kill: anywhere in the first three.
  Watched before(8);
  before.read(0);
  const auto started = system_clock().monotonic();
  ASSERT_TRUE(save(before.history, path));
  const auto once =
      std::chrono::ceil<std::chrono::microseconds>(system_clock().monotonic() - started);
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<unsigned> microseconds(
      0, 3 * static_cast<unsigned>(once.count()) + 1000);
  for (int kill_number = 0; kill_number < kills(); ++kill_number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(path);
    usleep(microseconds(random));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it could not save";

    Watched later(8);
    const auto loaded = load(later.history, path);
    ASSERT_TRUE(loaded) << loaded.error().describe();
    for (const auto& answer :
         later.history.ask(FieldId::temperature, Seconds(3600), Step::readings)) {
      for (std::size_t n = 0; n < answer.values.size() && answer.values[n].mark.ok(); ++n) {
        ASSERT_EQ(answer.values[n].mean, static_cast<double>(n));
      }
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stoker::history
