// Names of metrics, and functions that do not fit what they are.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lint/prometheus/rule_checks.h"

namespace stoker::lint {
namespace {

void check_name_of(const PromRule& rule, const PromNode& node, std::set<std::string>& said,
                   PromReport& report) {
  if (!is_dcgm_name(node.name) || !said.insert(node.name).second) return;
  if (is_binary_dcgm_name(node.name)) {
    report.add(
        "dcgm-unknown-metric", rule, node.at,
        fmt::format("{} is a list in DCGM, and the exporter prints numbers alone", node.name));
    return;
  }
  if (!is_known_dcgm_name(node.name)) {
    const auto meant = report.may_suggest() ? nearest_dcgm_name(node.name) : std::string();
    report.add("dcgm-unknown-metric", rule, node.at,
               fmt::format("DCGM has no {}{}", node.name, meant.empty() ? "" : "; " + meant));
    return;
  }
  const auto* metric = find_gpu_metric(node.name);
  if (metric == nullptr) return;
  if (metric->name != node.name && metric->kind != MetricKind::bits) {
    report.add("dcgm-renamed", rule, node.at,
               fmt::format("the exporter's own lists call it {}", metric->name));
  }
  if (!metric->exported) {
    report.add("dcgm-not-exported", rule, node.at,
               fmt::format("default-counters.csv does not turn {} on", metric->name));
  }
}

void check_mig_label(const PromRule& rule, const PromNode& node, PromReport& report) {
  const auto* metric = find_gpu_metric(node.name);
  if (metric == nullptr ||
      (metric->name != "DCGM_FI_DEV_GPU_UTIL" && metric->name != "DCGM_FI_DEV_MEM_COPY_UTIL")) {
    return;
  }
  for (const auto& matcher : node.matchers) {
    if (matcher.label != "GPU_I_ID" && matcher.label != "GPU_I_PROFILE") continue;
    const bool wants = matcher.sign == "=" || matcher.sign == "=~" ? !matcher.value.empty()
                                                                   : matcher.value.empty();
    if (!wants || matcher.value == ".*") continue;
    report.add("dcgm-util-mig", rule, node.at,
               fmt::format("{}{} asks for a MIG instance", matcher.label, matcher.sign));
    return;
  }
}

void check_function(const PromRule& rule, const PromNode& node, PromReport& report) {
  if (node.kind != PromNode::Kind::call || node.below.size() != 1) return;
  if (node.name != "increase" && node.name != "rate" && node.name != "irate") return;
  const auto& below = node.below.front();
  if (below.kind != PromNode::Kind::selector) return;
  const auto* metric = find_gpu_metric(below.name);
  if (metric == nullptr) return;
  if (metric->kind == MetricKind::last_xid) {
    report.add("dcgm-xid-count", rule, node.at,
               fmt::format("{}() of the last Xid's number", node.name));
  } else if (metric->kind == MetricKind::gauge || metric->kind == MetricKind::bits) {
    report.add(
        "dcgm-rate-of-gauge", rule, node.at,
        fmt::format("{} goes up and down, and {}() takes it for a counter", below.name, node.name));
  }
}

// What a recorded series is of, where no arithmetic changes its unit.
const PromNode* plain_selector(const PromNode& node) {
  if (node.kind == PromNode::Kind::selector) return &node;
  constexpr auto keeps =
      std::to_array<std::string_view>({"sum", "avg", "min", "max", "avg_over_time", "max_over_time",
                                       "min_over_time", "last_over_time"});
  const bool kept = std::ranges::find(keeps, node.name) != keeps.end();
  if (!kept || node.below.size() != 1) return nullptr;
  return plain_selector(node.below.front());
}

void check_recorded(const PromRule& rule, const PromNode& root, PromReport& report) {
  const auto* selector = plain_selector(root);
  const auto* metric = selector == nullptr ? nullptr : find_gpu_metric(selector->name);
  if (metric == nullptr || rule.record.empty()) return;
  struct Row {
    MetricUnit unit;
    std::string_view word;
    std::string_view is;
  };
  constexpr auto rows = std::to_array<Row>({{MetricUnit::mebibytes, "_bytes", "MiB"},
                                            {MetricUnit::megahertz, "_hertz", "MHz"},
                                            {MetricUnit::percent, "_ratio", "percent"},
                                            {MetricUnit::percent, "_bytes", "percent"},
                                            {MetricUnit::millijoules, "_joules", "mJ"},
                                            {MetricUnit::nanoseconds, "_seconds", "ns"},
                                            {MetricUnit::ratio, "_percent", "a ratio"}});
  for (const auto& row : rows) {
    if (row.unit != metric->unit || rule.record.find(row.word) == std::string::npos) continue;
    if (row.word == "_joules" && rule.record.find("milli") != std::string::npos) continue;
    if (row.word == "_bytes" && rule.record.find("mebi") != std::string::npos) continue;
    report.add("dcgm-unit-name", rule, selector->at,
               fmt::format("{} is called {}, and {} is in {}", rule.record, row.word.substr(1),
                           metric->name, row.is));
    return;
  }
}

}  // namespace

void check_metrics(const PromRule& rule, const PromNode& root, PromReport& report) {
  std::set<std::string> said;
  each_node(root, [&](const PromNode& node) {
    if (node.kind == PromNode::Kind::selector) {
      check_name_of(rule, node, said, report);
      check_mig_label(rule, node, report);
    }
    check_function(rule, node, report);
  });
  check_recorded(rule, root, report);
}

}  // namespace stoker::lint
