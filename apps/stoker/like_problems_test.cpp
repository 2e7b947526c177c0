#include "like_problems.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stoker::app {
namespace {

TEST(Problems, ThatAreAlikeAreOneLine) {
  Problems problems;
  for (int rank = 0; rank < 64; ++rank)
    problems.add(fmt::format("/logs/rank{}", rank), "Permission denied");
  problems.add("/logs/rank0", "Permission denied");
  problems.add("", "RAS is off");
  EXPECT_EQ(problems.lines(),
            (std::vector<std::string>{"/logs/rank0, /logs/rank1 and 62 more: Permission denied",
                                      "RAS is off"}));
}

TEST(Problems, OfTooManyKindsAreCounted) {
  Problems problems;
  for (int kind = 0; kind < 40; ++kind) problems.add("x", fmt::format("why {}", kind));
  const auto lines = problems.lines();
  ASSERT_EQ(lines.size(), Problems::most_lines);
  EXPECT_EQ(lines.back(), "29 more of other kinds");
}

}  // namespace
}  // namespace stoker::app
