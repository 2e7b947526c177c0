#include "lint/patch.h"

#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

using Kind = LineEdit::Kind;

TEST(Patch, inserts_and_replaces_lines_and_keeps_their_breaks) {
  EXPECT_EQ(with_edits("a\r\nb\r\nc", {{2, Kind::insert_before, "x"}, {3, Kind::replace, "C"}}),
            "a\r\nx\r\nb\r\nC\n");
}

TEST(Patch, is_a_unified_diff_with_three_lines_around_each_change) {
  std::string text;
  for (int i = 1; i <= 20; ++i) text += std::to_string(i) + "\n";
  EXPECT_EQ(
      unified_patch(text, {{2, Kind::replace, "two"}, {15, Kind::insert_before, "new"}}, "d/f"),
      "--- a/d/f\n+++ b/d/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
      "@@ -12,6 +12,7 @@\n 12\n 13\n 14\n+new\n 15\n 16\n 17\n");
  EXPECT_EQ(unified_patch(text, {}, "f"), "");
}

TEST(Patch, changes_that_stand_near_are_in_one_hunk) {
  const auto patch = unified_patch("1\n2\n3\n4\n5\n6\n7\n",
                                   {{1, Kind::replace, "a"}, {6, Kind::replace, "b"}}, "f");
  EXPECT_EQ(patch, "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n-1\n+a\n 2\n 3\n 4\n 5\n-6\n+b\n 7\n");
}

}  // namespace
}  // namespace stoker::lint
