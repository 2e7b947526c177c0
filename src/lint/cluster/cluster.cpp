#include "lint/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/closest.h"
#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

constexpr auto cluster_rows = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, severity, title, why, fix, source, fixing) \
  Rule{id, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/cluster/rules.def"
#undef STOKER_LINT_RULE
});

}  // namespace

RuleTable cluster_rules() { return cluster_rows; }

std::vector<Finding> lint_cluster(const ClusterFacts& facts, const std::string& name,
                                  WallTime now) {
  std::vector<Finding> findings;
  const ClusterReport report{facts, name, now, findings};
  if (!facts.seen.nodes) return findings;
  check_labels(report);
  check_health(report);
  check_selectors(report);
  if (facts.seen.pods) {
    for (const auto each : {check_taints, check_sharing, check_telemetry, check_waiting,
                            check_gangs, check_stranded, check_cuda}) {
      each(report);
    }
  }
  sort_findings(findings);
  return findings;
}

bool is_beside_the_point(const ClusterFacts& facts, const Finding& finding) {
  if (!facts.seen.nodes) return false;
  if (finding.rule == "gpu-toleration-missing") {
    return std::ranges::none_of(facts.nodes(), [](const NodeFacts& node) {
      return node.has_gpus() && node.keeps_away({});
    });
  }
  if (finding.rule != "gpu-selector-missing") return false;
  std::set<std::string_view> products;
  for (const auto& node : facts.nodes()) {
    if (node.has_gpus()) products.insert(node.label("nvidia.com/gpu.product"));
  }
  return products.size() <= 1 && !products.contains("");
}

std::string counted(double number, std::string_view what) {
  return fmt::format("{:g} {}{}", number, what, number == 1 ? "" : "s");
}

std::string gibibytes(double bytes) {
  const double number = bytes / 0x1p30;
  return number < 10 ? fmt::format("{:.2g} GiB", number) : fmt::format("{:.0f} GiB", number);
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size())));
  if (names.size() > shown) first.push_back(fmt::format("{} more", names.size() - shown));
  return listed(first);
}

}  // namespace stoker::lint
