// Files as they come: several documents, lists, broken ones, hostile ones.
#include <gtest/gtest.h>

#include "lint/kubernetes/lint_test_support.h"

namespace stoker::lint::kubernetes {
namespace {

const std::string wrong =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n"
    "    image: example.com/x:1\n    command: [sleep, inf]\n    resources:\n      limits: "
    "{nvidia.com/gpu: 0.5}\n";

TEST(Documents, each_of_a_file_is_looked_at_with_its_own_lines) {
  const auto text = wrong + "---\n" + wrong;
  EXPECT_EQ(lines_of_rule(text, "gpu-fraction"), (std::vector{10, 21}));
}

TEST(Documents, a_broken_one_is_told_at_its_line_and_the_others_are_looked_at) {
  const auto text = wrong + "---\na: b\n}: c\n---\n" + wrong;
  EXPECT_EQ(told(text),
            (std::vector<std::string>{"gpu-fraction:10", "manifest-broken:13", "gpu-fraction:24"}));
}

TEST(Documents, of_a_list_every_item_is_looked_at) {
  EXPECT_EQ(lines_of_rule("apiVersion: v1\nkind: List\nitems:\n- " + indented(wrong, 2).substr(2),
                          "gpu-fraction"),
            std::vector{13});
}

TEST(Documents, in_json_have_lines_and_columns_too) {
  const auto manifest = lint_manifest(
      "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"x\"}, \"spec\": {\n"
      "\t\"containers\": [{\"name\": \"a\", \"image\": \"x:1\", \"command\": [\"sleep\", \"1\"],\n"
      "\t\t\"resources\": {\"limits\": {\"nvidia.com/gpu\": 0.5}}}]}}\n",
      "m.json");
  ASSERT_FALSE(manifest.findings.empty());
  EXPECT_EQ(manifest.findings[0].rule, "gpu-fraction");
  EXPECT_EQ(manifest.findings[0].location->line, 3);
}

TEST(Documents, ten_thousand_are_looked_at) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "---\n" + wrong;
  EXPECT_EQ(lines_of_rule(text, "gpu-fraction").size(), 10000U);
}

TEST(Documents, of_ten_thousand_levels_and_too_large_ones_are_refused_and_said_so) {
  std::string deep;
  deep.append(10000, '[');
  deep.append("\n---\n").append(wrong);
  EXPECT_EQ(told(deep), (std::vector<std::string>{"manifest-broken:1", "gpu-fraction:12"}));
  std::string large = "a: ";
  large.append(5 << 20, 'x');
  large.append("\n---\n").append(wrong);
  EXPECT_EQ(told(large), (std::vector<std::string>{"manifest-too-large:1", "gpu-fraction:12"}));
}

TEST(Documents, aliases_without_end_end) {
  std::string bomb = "apiVersion: example.com/v1\nkind: Bomb\nspec:\n  a0: &a0 {b: x}\n";
  for (int i = 1; i < 60; ++i) {
    const auto name = std::to_string(i);
    const auto before = "*a" + std::to_string(i - 1);
    bomb += "  a" + name + ": &a" + name + " {b: " + before + ", c: " + before + ", d: " + before +
            "}\n";
  }
  EXPECT_EQ(told(bomb), std::vector<std::string>{});
  EXPECT_EQ(told("apiVersion: example.com/v1\nkind: Loop\nspec: &s\n  again: *s\n"),
            std::vector<std::string>{});
  EXPECT_EQ(
      told("apiVersion: v1\nkind: List\nitems: &s\n- kind: List\n  apiVersion: v1\n  items: *s\n"),
      std::vector<std::string>{});
}

TEST(Documents, of_an_unknown_kind_are_searched_for_pods) {
  EXPECT_EQ(lines_of_rule("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nspec:\n  "
                          "parts:\n  - pod:\n      spec:\n"
                          "        containers:\n        - name: a\n          image: x:1\n"
                          "          resources: {limits: {nvidia.com/gpu: 0.5}}\n",
                          "gpu-fraction"),
            std::vector{11});
}

TEST(Documents, that_are_templates_and_no_yaml_are_not_blamed) {
  EXPECT_EQ(told("a: {{ .x }}\n  b: }\n"), std::vector<std::string>{});
  EXPECT_EQ(told("a: {{ .x }}\n  b: }\n", Severity::info),
            std::vector<std::string>{"template-not-read:1"});
}

}  // namespace
}  // namespace stoker::lint::kubernetes
