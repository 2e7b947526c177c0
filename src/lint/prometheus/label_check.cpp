// Labels that the texts of an alert name, and that its expression no longer has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "lint/prometheus/rule_checks.h"

namespace stoker::lint {
namespace {

using Labels = std::optional<std::set<std::string>>;  // nullopt: whatever the series have

// Labels that the result can have at most, where the expression alone decides.
Labels labels_of(const PromNode& node) {
  using Kind = PromNode::Kind;
  if (node.kind == Kind::aggregate) {
    if (node.name == "topk" || node.name == "bottomk" || node.name == "limitk" ||
        node.name == "limit_ratio") {
      return node.below.empty() ? Labels() : labels_of(node.below.back());
    }
    if (node.name == "count_values" || node.without) return std::nullopt;
    if (!node.by) return std::set<std::string>{};
    return std::set<std::string>(node.by->begin(), node.by->end());
  }
  if (node.kind == Kind::negative) return labels_of(node.below.front());
  if (node.kind != Kind::binary) return std::nullopt;
  if (constant_of(node.below[1])) return labels_of(node.below[0]);
  if (constant_of(node.below[0])) return labels_of(node.below[1]);
  if (node.name == "and" || node.name == "unless") return labels_of(node.below[0]);
  return std::nullopt;  // joins with group_left() bring labels of the other side
}

// "gpu" and "pod" of "{{ $labels.gpu }} of {{ .Labels.pod }}".
std::vector<std::string> labels_named(std::string_view text) {
  std::vector<std::string> names;
  constexpr auto fronts = std::to_array<std::string_view>({"$labels.", ".Labels."});
  for (const auto front : fronts) {
    for (auto at = text.find(front); at != std::string_view::npos; at = text.find(front, at)) {
      at += front.size();
      auto end = at;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
      }
      if (end > at) names.emplace_back(text.substr(at, end - at));
    }
  }
  return names;
}

bool matches_on(const PromNode& root, std::string_view label) {
  bool found = false;
  each_node(root, [&](const PromNode& node) {
    found = found || std::ranges::any_of(node.matchers, [&](const PromMatcher& matcher) {
              return matcher.label == label;
            });
    if (node.by) found = found || std::ranges::find(*node.by, label) != node.by->end();
  });
  return found;
}

bool only_dcgm(const PromNode& root) {
  bool only = true;
  each_node(root, [&](const PromNode& node) {
    only = only && (node.kind != PromNode::Kind::selector || is_dcgm_name(node.name)) &&
           node.name != "label_replace" && node.name != "label_join";
  });
  return only;
}

}  // namespace

bool is_comparison(const PromNode& node) {
  constexpr auto signs = std::to_array<std::string_view>({"==", "!=", "<", "<=", ">", ">="});
  return node.kind == PromNode::Kind::binary && std::ranges::find(signs, node.name) != signs.end();
}

bool calls(const PromNode& root, std::string_view function) {
  bool found = false;
  each_node(root, [&](const PromNode& node) {
    found = found || (node.kind == PromNode::Kind::call && node.name == function);
  });
  return found;
}

std::optional<double> constant_of(const PromNode& node) {
  if (node.kind == PromNode::Kind::number) return node.number;
  if (node.kind == PromNode::Kind::negative) {
    const auto below = constant_of(node.below.front());
    return below ? std::optional(-*below) : std::nullopt;
  }
  if (node.kind != PromNode::Kind::binary) return std::nullopt;
  const auto left = constant_of(node.below[0]);
  const auto right = constant_of(node.below[1]);
  if (!left || !right) return std::nullopt;
  if (node.name == "+") return *left + *right;
  if (node.name == "-") return *left - *right;
  if (node.name == "*") return *left * *right;
  if (node.name == "/" && *right != 0) return *left / *right;
  if (node.name == "^") return std::pow(*left, *right);
  return std::nullopt;
}

void check_labels(const PromRule& rule, const PromNode& root, PromReport& report) {
  if (rule.alert.empty()) return;
  const auto labels = labels_of(root);
  std::set<std::string> said;
  for (const auto* text : rule.texts) {
    for (const auto& name : labels_named(text->text)) {
      if (name == "alertname" || !said.insert(name).second) continue;
      if (labels && !labels->contains(name)) {
        report.add_at(
            "dcgm-label-gone", *text,
            fmt::format("the expression of {} has no label '{}' any more", rule.alert, name));
      } else if (!labels && name == "node" && only_dcgm(root) && !matches_on(root, name)) {
        report.add_at("dcgm-label-node", *text,
                      fmt::format("the exporter gives no label 'node' to {}", rule.alert));
      }
    }
  }
}

}  // namespace stoker::lint
