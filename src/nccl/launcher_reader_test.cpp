#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "nccl/nccl_test_support.h"
#include "nccl/report.h"

namespace stoker::nccl {
namespace {

TEST(LauncherReader, KeepsATaskThatSrunNamesAgainOnceAndSoManyInAll) {
  std::string list = "srun: error: node-a: tasks 0-9999";
  for (int i = 0; i < 200; ++i) list += ",0-9999";
  list += ": Exited with exit code 1\n";
  Facts facts;
  read_text(facts, "srun.log", list);
  EXPECT_EQ(facts.exits.size(), 10'000U);
  EXPECT_FALSE(facts.exits_left_out);
  Facts many;
  std::string lines;
  for (int i = 0; i < 3; ++i) {
    lines += fmt::format("srun: error: node-{}: tasks 0-99999: Exited with exit code 1\n", i);
  }
  read_text(many, "srun.log", lines);
  EXPECT_EQ(many.exits.size(), 200'000U);
  EXPECT_TRUE(many.exits_left_out);
  const auto verdict = judge(many).front();
  EXPECT_NE(std::ranges::find(
                verdict.limits,
                "the launchers name more processes that ended than the 200000 that are kept"),
            verdict.limits.end());
}

}  // namespace
}  // namespace stoker::nccl
