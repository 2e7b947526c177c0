#include "lint/kubernetes/annotations.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lint/ignore.h"

namespace stoker::lint::kubernetes {
namespace {

constexpr auto kube_linter_checks = std::to_array<std::pair<std::string_view, std::string_view>>({
#define STOKER_KUBE_LINTER(check, rules) {check, rules},
#include "lint/kubernetes/kube_linter.def"
#undef STOKER_KUBE_LINTER
});

void take_annotations(yaml::View metadata, std::vector<std::string>& lists) {
  constexpr std::string_view kube_linter = "ignore-check.kube-linter.io/";
  metadata.find("annotations").each_entry([&](yaml::View key, yaml::View value) {
    const auto name = key.text();
    if (name == "stoker.dev/lint-ignore") lists.emplace_back(value.text());
    if (name == "kube-linter.io/ignore-all") lists.emplace_back("all");
    if (!name.starts_with(kube_linter)) return;
    for (const auto& [check, rules] : kube_linter_checks) {
      if (name.substr(kube_linter.size()) == check) lists.emplace_back(rules);
    }
  });
}

}  // namespace

std::size_t take_out_annotated(const Workload& workload, std::size_t first,
                               std::vector<Finding>& findings) {
  std::vector<std::string> lists;
  take_annotations(workload.object.find("metadata"), lists);
  for (const Pod& pod : workload.pods) take_annotations(pod.metadata, lists);
  if (lists.empty()) return 0;
  const auto begin = findings.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = std::remove_if(begin, findings.end(), [&](const Finding& finding) {
    return std::ranges::any_of(lists,
                               [&](const auto& list) { return lists_rule(list, finding.rule); });
  });
  const auto taken = static_cast<std::size_t>(findings.end() - end);
  findings.erase(end, findings.end());
  return taken;
}

}  // namespace stoker::lint::kubernetes
