#include "lint/ignore.h"

#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

std::vector<int> lines_left(std::string_view text, std::vector<int> lines,
                            const std::string& rule = "a-rule") {
  std::vector<Finding> findings;
  for (const int line : lines) {
    Finding finding;
    finding.rule = rule;
    finding.location = FileLocation{"f", line, 1};
    findings.push_back(finding);
  }
  take_out_ignored(text, findings);
  lines.clear();
  for (const auto& finding : findings) lines.push_back(finding.location->line);
  return lines;
}

TEST(Ignore, a_comment_on_a_line_is_about_that_line) {
  EXPECT_EQ(lines_left("a\nb # stoker-lint-ignore: a-rule\nc\n", {1, 2, 3}), (std::vector{1, 3}));
}

TEST(Ignore, a_comment_alone_is_about_the_next_line_that_is_none) {
  EXPECT_EQ(lines_left("a\n# stoker-lint-ignore: x, a-rule\n# why\nb\nc\n", {1, 4, 5}),
            (std::vector{1, 5}));
}

TEST(Ignore, a_comment_for_the_document_ends_at_its_markers) {
  const auto* text = "a\n---\nb\n# stoker-lint-ignore-document: all\nc\n---\nd\n";
  EXPECT_EQ(lines_left(text, {1, 3, 5, 7}), (std::vector{1, 7}));
}

TEST(Ignore, other_rules_and_other_words_stay) {
  EXPECT_EQ(lines_left("b # stoker-lint-ignore: other-rule\n", {1}), std::vector{1});
  EXPECT_EQ(lines_left("b # see stoker-lint-ignore: a-rule\n", {1}), std::vector{1});
  EXPECT_EQ(lines_left("b # stoker-lint-ignore\n", {1}), std::vector{1});
}

}  // namespace
}  // namespace stoker::lint
