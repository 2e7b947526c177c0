#include "lint/rule.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace stoker::lint {
namespace {

auto order_of(const Finding& finding) {
  static const FileLocation nowhere;
  const FileLocation& at = finding.location ? *finding.location : nowhere;
  return std::tie(at.file, at.line, at.column, finding.entity, finding.rule, finding.message);
}

}  // namespace

const Rule* find_rule(RuleTable table, std::string_view id) {
  const auto found = std::ranges::find(table, id, &Rule::id);
  return found == table.end() ? nullptr : &*found;
}

const Rule& rule_of(RuleTable table, std::string_view id) {
  const Rule* row = find_rule(table, id);
  if (row == nullptr) std::abort();
  return *row;
}

Finding finding_of(const Rule& rule, FileLocation place, std::string message,
                   std::vector<std::string> evidence) {
  Finding finding =
      finding_about(rule, {EntityKind::file, place.file}, std::move(message), std::move(evidence));
  finding.location = std::move(place);
  return finding;
}

Finding finding_about(const Rule& rule, Entity entity, std::string message,
                      std::vector<std::string> evidence) {
  Finding finding;
  finding.rule = rule.id;
  finding.severity = rule.severity;
  finding.entity = std::move(entity);
  finding.message = std::move(message);
  finding.cause = rule.why;
  finding.fix = rule.fix;
  finding.source = rule.source;
  finding.evidence = std::move(evidence);
  return finding;
}

void sort_findings(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) {
    return order_of(one) < order_of(other);
  });
}

}  // namespace stoker::lint
