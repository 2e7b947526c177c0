#include "lint/prometheus/rule_file.h"

#include <algorithm>
#include <array>

#include "lint/prometheus/rule_checks.h"

namespace stoker::lint {
namespace {

constexpr auto prometheus_rows = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, severity, title, why, fix, source, fixing) \
  {id, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/prometheus/rules.def"
#undef STOKER_LINT_RULE
});

std::string text_of(const yaml::Node& map, std::string_view key) {
  const auto* node = yaml::child_of(map, key);
  return node == nullptr ? "" : node->text;
}

const yaml::Node* groups_of(const yaml::Node& root) {
  if (text_of(root, "kind") == "PrometheusRule") {
    const auto* spec = yaml::child_of(root, "spec");
    return spec == nullptr ? nullptr : yaml::child_of(*spec, "groups");
  }
  return yaml::child_of(root, "kind") == nullptr ? yaml::child_of(root, "groups") : nullptr;
}

PromRule rule_of(const yaml::Node& node) {
  PromRule rule{.alert = text_of(node, "alert"),
                .record = text_of(node, "record"),
                .expression = yaml::child_of(node, "expr"),
                .severity = {},
                .texts = {}};
  for (const auto* key : {"labels", "annotations"}) {
    const auto* map = yaml::child_of(node, key);
    if (map == nullptr) continue;
    for (const auto& entry : map->entries) rule.texts.push_back(&entry.value);
  }
  if (const auto* labels = yaml::child_of(node, "labels"))
    rule.severity = text_of(*labels, "severity");
  return rule;
}

bool names_dcgm(const PromNode& root) {
  bool found = false;
  each_node(root, [&](const PromNode& node) {
    found = found || (node.kind == PromNode::Kind::selector && is_dcgm_name(node.name));
  });
  return found;
}

// Does an expression notice that a target or a GPU is gone?
bool notices_absence(const PromNode& root) {
  bool found = false;
  each_node(root, [&](const PromNode& node) {
    const bool asks = node.name == "absent" || node.name == "absent_over_time" ||
                      node.name == "count" || node.name == "up" || node.name == "unless" ||
                      node.name == "group";
    found = found || (asks && node.kind != PromNode::Kind::number);
  });
  return found;
}

}  // namespace

RuleTable prometheus_rules() { return prometheus_rows; }

void PromReport::put(std::string_view rule, FileLocation place, std::string message,
                     std::vector<std::string> evidence) {
  found_.push_back(finding_of(rule_of(prometheus_rows, rule), std::move(place), std::move(message),
                              std::move(evidence)));
}

void PromReport::add(std::string_view rule, const PromRule& at, std::size_t offset,
                     std::string message) {
  const auto& node = *at.expression;
  const std::string_view before = std::string_view(node.text).substr(0, offset);
  FileLocation place{file_, node.place.line, node.place.column};
  // What quotes, folding and indentation have taken away is not known: then the line counts, or where it begins.
  if (!node.quoted) {
    place.column += static_cast<int>(before.size());
  } else {
    const auto lines = std::ranges::count(before, '\n');
    place.line += static_cast<int>(lines);
    if (lines > 0) place.column = 0;
  }
  std::vector<std::string> evidence;
  if (!at.alert.empty()) evidence.push_back("alert: " + at.alert);
  if (!at.record.empty()) evidence.push_back("record: " + at.record);
  evidence.push_back(node.text.substr(0, 200));
  put(rule, std::move(place), std::move(message), std::move(evidence));
}

void PromReport::add_at(std::string_view rule, const yaml::Node& at, std::string message) {
  put(rule, {file_, at.place.line, at.place.column}, std::move(message), {at.text.substr(0, 200)});
}

bool is_prometheus_rules(const yaml::Node& root) {
  const auto* groups = groups_of(root);
  return groups != nullptr && groups->kind == yaml::Node::Kind::list &&
         std::ranges::any_of(groups->items, [](const yaml::Node& group) {
           return yaml::child_of(group, "rules") != nullptr;
         });
}

std::vector<Finding> lint_prometheus_rules(const yaml::Node& root, const std::string& file) {
  if (!is_prometheus_rules(root)) return {};
  PromReport report(file);
  int alerts = 0;
  bool notices = false;
  const auto* groups = groups_of(root);
  for (const auto& group : groups->items) {
    const auto* rules = yaml::child_of(group, "rules");
    if (rules == nullptr) continue;
    for (const auto& node : rules->items) {
      const auto rule = rule_of(node);
      if (rule.expression == nullptr || rule.expression->kind != yaml::Node::Kind::scalar) continue;
      const auto expression = parse_promql(rule.expression->text);
      if (!expression) {
        notices = true;  // nobody knows what it asks
        continue;
      }
      notices = notices || notices_absence(*expression);
      if (!names_dcgm(*expression)) continue;
      alerts += rule.alert.empty() ? 0 : 1;
      check_metrics(rule, *expression, report);
      check_comparisons(rule, *expression, report);
      check_labels(rule, *expression, report);
    }
  }
  constexpr int a_set_of_alerts = 3;  // a file with one or two leaves the rest to another
  if (alerts >= a_set_of_alerts && !notices) {
    report.add_at("dcgm-no-absent", *groups, "no alert of this file notices a GPU without series");
  }
  auto found = report.take();
  sort_findings(found);
  return found;
}

}  // namespace stoker::lint
