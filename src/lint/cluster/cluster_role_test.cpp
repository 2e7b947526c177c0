// docs/kubernetes/lint-cluster-role.yaml is what `stoker lint --cluster` needs: every kind of kinds.def, and nothing but list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "catalog/yaml/yaml.h"
#include "lint/kubernetes/kinds.h"

namespace stoker::lint {
namespace {

bool lists(const yaml::Node* list, std::string_view word) {
  return list != nullptr && std::ranges::any_of(list->items, [&](const yaml::Node& each) {
           return each.text == word;
         });
}

TEST(ClusterRole, AllowsToListEveryKindAndNothingElse) {
  const auto role = yaml::parse_file(STOKER_SOURCE_DIR "/docs/kubernetes/lint-cluster-role.yaml");
  ASSERT_TRUE(role) << role.error().describe();
  const auto* rules = yaml::child_of(*role, "rules");
  ASSERT_NE(rules, nullptr);
  for (const auto& rule : rules->items) {
    const auto* verbs = yaml::child_of(rule, "verbs");
    ASSERT_NE(verbs, nullptr);
    ASSERT_EQ(verbs->items.size(), 1U);
    EXPECT_EQ(verbs->items[0].text, "list");
  }
  for (const auto& row : kubernetes::all_kinds()) {
    // Of these kinds the plural is the kind in lower case with an s.
    std::string plural = fmt::format("{}s", row.kind);
    std::ranges::transform(plural, plural.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_TRUE(std::ranges::any_of(rules->items,
                                    [&](const yaml::Node& rule) {
                                      return lists(yaml::child_of(rule, "apiGroups"), row.group) &&
                                             lists(yaml::child_of(rule, "resources"), plural);
                                    }))
        << plural << "." << row.group;
  }
}

}  // namespace
}  // namespace stoker::lint
