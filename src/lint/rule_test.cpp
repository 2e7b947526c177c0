#include "lint/rule.h"

#include <gtest/gtest.h>

#include <array>

namespace stoker::lint {
namespace {

constexpr std::array rows{Rule{.id = "one-thing",
                               .severity = Severity::warning,
                               .title = "One thing is missing",
                               .why = "It breaks",
                               .fix = "Add it",
                               .source = "https://example.com/doc",
                               .fixing = Fixing::by_hand}};

TEST(Rule, a_finding_takes_its_words_from_the_row_of_its_rule) {
  const Rule* rule = find_rule(rows, "one-thing");
  ASSERT_NE(rule, nullptr);
  const auto finding = finding_of(*rule, {"a.yaml", 3, 7}, "'x' has no thing", {"seen so"});
  EXPECT_EQ(finding.rule, "one-thing");
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(finding.cause, "It breaks");
  EXPECT_EQ(finding.fix, "Add it");
  EXPECT_EQ(finding.source, "https://example.com/doc");
  EXPECT_EQ(finding.entity, (Entity{EntityKind::file, "a.yaml"}));
  EXPECT_EQ(finding.location->line, 3);
  EXPECT_EQ(finding.location->column, 7);
  EXPECT_EQ(finding.evidence, std::vector<std::string>{"seen so"});
}

TEST(Rule, one_that_no_row_has_is_not_found) { EXPECT_EQ(find_rule(rows, "another"), nullptr); }

TEST(Rule, findings_are_sorted_by_place) {
  std::vector<Finding> findings{finding_of(rows[0], {"b", 1, 1}, "third"),
                                finding_of(rows[0], {"a", 9, 1}, "second"),
                                finding_of(rows[0], {"a", 2, 5}, "first")};
  sort_findings(findings);
  EXPECT_EQ(findings[0].message, "first");
  EXPECT_EQ(findings[1].message, "second");
  EXPECT_EQ(findings[2].message, "third");
}

}  // namespace
}  // namespace stoker::lint
