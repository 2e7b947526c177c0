#include "os/command.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stoker::os
