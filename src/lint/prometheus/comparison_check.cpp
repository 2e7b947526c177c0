// Thresholds: do they fit the metric's kind, scale and unit?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lint/prometheus/rule_checks.h"

namespace stoker::lint {
namespace {

// One side of a comparison that comes down to one selector.
struct Measured {
  const PromNode* selector = nullptr;
  double scale = 1;          // the threshold is in `scale` times the metric's unit
  bool summed = false;       // of several GPUs: no longer bounded
  bool over_change = false;  // rate, increase, changes and their like
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, name) != words.end();
}

std::optional<Measured> measured(const PromNode& node) {
  if (node.kind == PromNode::Kind::selector) return Measured{.selector = &node};
  if (node.kind == PromNode::Kind::aggregate || node.kind == PromNode::Kind::call) {
    const PromNode* inner = node.below.empty() ? nullptr : &node.below.back();
    if (node.name == "clamp_max" || node.name == "clamp_min" || node.name == "round") {
      inner = &node.below.front();
    }
    auto below = inner == nullptr ? std::nullopt : measured(*inner);
    if (!below) return std::nullopt;
    if (is_one_of(node.name,
                  {"rate", "irate", "increase", "delta", "idelta", "deriv", "changes", "resets"})) {
      below->over_change = true;
      return below;
    }
    if (is_one_of(node.name, {"sum", "sum_over_time"})) below->summed = true;
    const bool keeps = is_one_of(
        node.name, {"sum", "avg", "min", "max", "sum_over_time", "avg_over_time", "max_over_time",
                    "min_over_time", "last_over_time", "quantile", "quantile_over_time", "topk",
                    "bottomk", "abs", "round", "ceil", "floor", "clamp_max", "clamp_min"});
    return keeps ? below : std::nullopt;
  }
  if (node.kind == PromNode::Kind::binary && (node.name == "*" || node.name == "/")) {
    const auto right = constant_of(node.below[1]);
    auto left = measured(node.below[0]);
    if (left && right && *right != 0) {
      left->scale *= node.name == "*" ? *right : 1 / *right;
      return left;
    }
    const auto factor = constant_of(node.below[0]);
    auto other = measured(node.below[1]);
    if (node.name == "*" && other && factor && *factor != 0) {
      other->scale *= *factor;
      return other;
    }
  }
  return std::nullopt;
}

struct Comparison {
  const PromNode* node;
  std::string sign;  // metric SIGN threshold
  double threshold;  // in the metric's own unit
  Measured what;
  const GpuMetric* metric;
};

std::string turned(std::string_view sign) {
  if (sign == "<") return ">";
  if (sign == "<=") return ">=";
  if (sign == ">") return "<";
  if (sign == ">=") return "<=";
  return std::string(sign);
}

std::optional<Comparison> comparison_of(const PromNode& node) {
  if (!is_comparison(node)) return std::nullopt;
  for (const int side : {0, 1}) {
    const auto number = constant_of(node.below[1 - side]);
    const auto what = measured(node.below[side]);
    if (!number || !what) continue;
    const auto* metric = find_gpu_metric(what->selector->name);
    if (metric == nullptr) return std::nullopt;
    return Comparison{&node, side == 0 ? node.name : turned(node.name), *number / what->scale,
                      *what, metric};
  }
  return std::nullopt;
}

bool is_above(const Comparison& comparison) {
  return comparison.sign == ">" || comparison.sign == ">=";
}
bool is_below(const Comparison& comparison) {
  return comparison.sign == "<" || comparison.sign == "<=";
}

void check_scale(const PromRule& rule, const Comparison& one, PromReport& report) {
  if (one.what.over_change || one.what.summed || (!is_above(one) && !is_below(one))) return;
  const double limit = one.threshold;
  if (one.metric->unit == MetricUnit::percent && limit > 0 && limit < 1) {
    report.add("dcgm-scale", rule, one.node->at,
               fmt::format("{} goes from 0 to 100, and {:g} of it is less than one percent",
                           one.metric->name, limit));
  }
  if (one.metric->unit == MetricUnit::ratio && limit > 1) {
    report.add(
        "dcgm-scale", rule, one.node->at,
        fmt::format("{} goes from 0 to 1, and is never above {:g}", one.metric->name, limit));
  }
}

// Above these no card is, so the number is in a smaller unit. The largest memory is a B300's, 288 GB = 274,658 MiB
// (https://www.nvidia.com/en-us/data-center/dgx-b300/); 1 THz and 100 kW are far beyond any.
void check_unit(const PromRule& rule, const Comparison& one, PromReport& report) {
  if (one.what.over_change || one.what.summed) return;
  struct Row {
    MetricUnit unit;
    double above;
    std::string_view name;
  };
  constexpr auto rows = std::to_array<Row>({{MetricUnit::mebibytes, 400'000, "MiB"},
                                            {MetricUnit::megahertz, 1'000'000, "MHz"},
                                            {MetricUnit::watts, 100'000, "W"}});
  for (const auto& row : rows) {
    if (row.unit != one.metric->unit || one.threshold < row.above) continue;
    report.add("dcgm-unit", rule, one.node->at,
               fmt::format("{} is in {}, and {:g} of it is more than any card has",
                           one.metric->name, row.name, one.threshold));
  }
}

void check_kind(const PromRule& rule, const Comparison& one, PromReport& report) {
  if (one.what.over_change) return;
  if (one.metric->kind == MetricKind::counter && is_above(one)) {
    report.add("dcgm-counter-threshold", rule, one.node->at,
               fmt::format("{} only rises", one.metric->name));
  }
  const bool any = (one.sign == ">" || one.sign == "!=") && one.threshold == 0;
  if (one.metric->kind == MetricKind::bits && (is_above(one) || any)) {
    report.add("dcgm-bits", rule, one.node->at,
               fmt::format("{} is a mask, of which an idle GPU has bit 1", one.metric->name));
  }
  if (one.metric->kind == MetricKind::last_xid && any &&
      (rule.severity == "critical" || rule.severity == "page")) {
    report.add("dcgm-xid-page", rule, one.node->at,
               fmt::format("severity {} for every Xid", rule.severity));
  }
}

// Whatever tells held GPUs from free ones: a matcher or a join.
bool asks_for_holder(const PromNode& root) {
  bool found = false;
  each_node(root, [&](const PromNode& node) {
    const bool joins = node.kind == PromNode::Kind::binary &&
                       is_one_of(node.name, {"and", "unless", "*", "or"}) &&
                       !constant_of(node.below[0]) && !constant_of(node.below[1]);
    const bool matches = std::ranges::any_of(node.matchers, [](const PromMatcher& matcher) {
      return matcher.label.find("pod") != std::string::npos ||
             matcher.label.find("namespace") != std::string::npos ||
             matcher.label.find("container") != std::string::npos || matcher.label == "hpc_job";
    });
    found = found || joins || matches;
  });
  return found;
}

void check_habits(const PromRule& rule, const PromNode& root, const Comparison& one,
                  PromReport& report) {
  if (one.what.over_change) return;
  if (one.metric->unit == MetricUnit::celsius && is_above(one) && one.threshold >= 60) {
    report.add("dcgm-temperature", rule, one.node->at,
               fmt::format("{:g} degrees for every card", one.threshold));
  }
  const bool low = (one.metric->unit == MetricUnit::percent && one.threshold <= 20) ||
                   (one.metric->unit == MetricUnit::ratio && one.threshold <= 0.2);
  const bool idle = one.sign == "==" ? one.threshold == 0 && low : is_below(one) && low;
  if (idle && !one.what.summed && !asks_for_holder(root)) {
    report.add("dcgm-idle", rule, one.node->at,
               fmt::format("{} {} {:g} is true for a GPU that nobody asked for", one.metric->name,
                           one.sign, one.threshold));
  }
}

// FB_USED / (FB_USED + FB_FREE) > 0.9
void check_memory(const PromRule& rule, const PromNode& node, PromReport& report) {
  if (node.name != ">" && node.name != ">=") return;
  bool used = false;
  bool rest = false;
  bool divided = false;
  each_node(node.below[0], [&](const PromNode& below) {
    const auto* metric = find_gpu_metric(below.name);
    divided = divided || (below.kind == PromNode::Kind::binary && below.name == "/");
    if (below.kind != PromNode::Kind::selector || metric == nullptr) return;
    used = used || metric->name == "DCGM_FI_DEV_FB_USED";
    rest = rest || metric->name == "DCGM_FI_DEV_FB_FREE" || metric->name == "DCGM_FI_DEV_FB_TOTAL";
  });
  if (used && rest && divided && constant_of(node.below[1])) {
    report.add("dcgm-memory-full", rule, node.at, "used memory as a part of all memory");
  }
}

}  // namespace

void check_comparisons(const PromRule& rule, const PromNode& root, PromReport& report) {
  if (rule.alert.empty()) return;
  const bool by_change = calls(root, "changes") || calls(root, "delta") || calls(root, "increase");
  bool sticks = false;
  each_node(root, [&](const PromNode& node) {
    if (is_comparison(node)) check_memory(rule, node, report);
    const auto one = comparison_of(node);
    if (!one) return;
    check_scale(rule, *one, report);
    check_unit(rule, *one, report);
    check_kind(rule, *one, report);
    check_habits(rule, root, *one, report);
    if (one->metric->kind == MetricKind::last_xid && !one->what.over_change && !by_change &&
        !sticks) {
      sticks = true;
      report.add("dcgm-xid-sticks", rule, node.at,
                 fmt::format("{} {} {:g} stays true until the exporter starts anew",
                             one->metric->name, one->sign, one->threshold));
    }
  });
}

}  // namespace stoker::lint
