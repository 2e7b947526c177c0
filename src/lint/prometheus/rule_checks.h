// Analyzer stage: one rule of a file and its checks. Private to prometheus.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/prometheus/metric.h"
#include "lint/prometheus/promql.h"
#include "lint/prometheus/rule_file.h"

namespace stoker::lint {

struct PromRule {
  std::string alert;   // empty: it records
  std::string record;  // empty: it alerts
  const yaml::Node* expression = nullptr;
  std::string severity;                  // of its labels
  std::vector<const yaml::Node*> texts;  // annotations and labels
};

class PromReport {
 public:
  explicit PromReport(std::string file) : file_(std::move(file)) {}
  // At `offset` bytes in the expression.
  void add(std::string_view rule, const PromRule& at, std::size_t offset, std::string message);
  void add_at(std::string_view rule, const yaml::Node& at, std::string message);
  std::vector<Finding> take() { return std::move(found_); }
  // A suggestion compares with a thousand names: of a file full of unknown ones the first get one.
  bool may_suggest() { return suggestions_++ < 20; }

 private:
  void put(std::string_view rule, FileLocation place, std::string message,
           std::vector<std::string> evidence);
  std::string file_;
  int suggestions_ = 0;
  std::vector<Finding> found_;
};

// Every node below `root`, itself first.
template <typename Visit>
void each_node(const PromNode& root, Visit visit) {
  visit(root);
  for (const auto& below : root.below) each_node(below, visit);
}

bool is_comparison(const PromNode& node);
bool calls(const PromNode& root, std::string_view function);
// The number that a node without metrics is; nullopt: it has one, or is no arithmetic of numbers.
std::optional<double> constant_of(const PromNode& node);

void check_metrics(const PromRule& rule, const PromNode& root, PromReport& report);
void check_comparisons(const PromRule& rule, const PromNode& root, PromReport& report);
void check_labels(const PromRule& rule, const PromNode& root, PromReport& report);

}  // namespace stoker::lint
