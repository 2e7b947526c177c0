#include "os/command.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace stoker::os {
namespace {

using std::chrono::milliseconds;
constexpr auto enough = std::chrono::seconds(20);
constexpr std::size_t much = 1 << 20;

Command shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}};
}

TEST(CommandOutput, IsWhatItPrints) {
  auto command = shell("printf '%s' \"$GREETING\"; cat");
  command.environment = {"GREETING=good day"};
  EXPECT_EQ(output_of(command, enough, much).value(), "good day") << "and its input is empty";
  const auto large = output_of(shell("head -c 300000 /dev/zero"), enough, much);
  EXPECT_EQ(large.value().size(), 300'000U);
}

TEST(CommandOutput, AProgramThatFailsIsAnErrorThatSaysHow) {
  EXPECT_EQ(output_of(shell("exit 3"), enough, much).error().message(),
            "it failed with exit code 3");
  EXPECT_EQ(output_of(shell("kill -9 $$"), enough, much).error().message(), "it was killed");
  EXPECT_EQ(output_of({.program = "/no/such/program"}, enough, much).error().code(),
            ErrorCode::not_found);
}

TEST(CommandOutput, OneThatDoesNotEndIsKilledWithItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(output_of(shell("sleep 60 & wait"), milliseconds(100), much).error().code(),
            ErrorCode::timeout);
  EXPECT_EQ(output_of(shell("exec >&-; sleep 60"), milliseconds(100), much).error().code(),
            ErrorCode::timeout)
      << "though its output is closed";
  EXPECT_EQ(output_of(shell("yes"), enough, 10'000).error().code(), ErrorCode::corrupt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

// Within some seconds; one that nobody has reaped is dead too.
bool is_dead(const std::string& pid) {
  for (int tries = 0; tries < 500; ++tries) {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return true;
    const auto name = text.rfind(") ");
    if (name != std::string::npos && text[name + 2] == 'Z') return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(CommandOutput, ChildrenThatHoldTheOutputDieWithTheProgramWhetherItHasEndedOrNot) {
  std::string name = (std::filesystem::temp_directory_path() / "stoker-command-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const auto file = (folder / "pid").string();
  for (const char* then : {"wait", "exit 0"}) {
    const auto script = "sleep 60 & echo $! > " + file + "; " + then;
    EXPECT_EQ(output_of(shell(script), milliseconds(300), much).error().code(), ErrorCode::timeout);
    std::string pid;
    std::ifstream(file) >> pid;
    ASSERT_FALSE(pid.empty());
    EXPECT_TRUE(is_dead(pid)) << then;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stoker::os
