#include "config/section.h"

#include <gtest/gtest.h>

namespace stoker::config {
namespace {

constexpr std::string_view fresh = "expect:\n  gpus: 8\n";

TEST(Section, IsPutAtTheEndOfAFileThatHasNone) {
  EXPECT_EQ(replace_section("", "expect", fresh), fresh);
  EXPECT_EQ(replace_section("listen: :9400", "expect", fresh),
            "listen: :9400\nexpect:\n  gpus: 8\n");
}

TEST(Section, TakesThePlaceOfTheOldOneAndLeavesTheRestAlone) {
  EXPECT_EQ(replace_section("# mine\nexpect:\n  gpus: 4\n\n  nvlinks: 18\n\n# next\nlog:\n"
                            "  level: debug  # expect:\n",
                            "expect", fresh),
            "# mine\nexpect:\n  gpus: 8\n\n# next\nlog:\n  level: debug  # expect:\n");
}

TEST(Section, AKeyThatOnlyBeginsLikeItIsAnother) {
  EXPECT_EQ(replace_section("expected: 1\n", "expect", fresh), "expected: 1\nexpect:\n  gpus: 8\n");
}

TEST(Section, WrittenInOneLineItIsReplacedToo) {
  EXPECT_EQ(replace_section("expect: {gpus: 4}\nlog: {level: info}\n", "expect", fresh),
            "expect:\n  gpus: 8\nlog: {level: info}\n");
}

}  // namespace
}  // namespace stoker::config
