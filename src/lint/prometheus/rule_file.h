// Analyzer stage: Prometheus rule files, and PrometheusRule objects of its operator.
#pragma once

#include <string>
#include <vector>

#include "catalog/yaml/yaml.h"
#include "lint/rule.h"

namespace stoker::lint {

// The rows of prometheus/rules.def.
RuleTable prometheus_rules();

// A file of `groups:`, or an object of kind PrometheusRule.
bool is_prometheus_rules(const yaml::Node& root);

// In the order of the file; only what is about metrics of dcgm-exporter. Expressions that are no PromQL that we read,
// also those of templates, are passed over.
std::vector<Finding> lint_prometheus_rules(const yaml::Node& root, const std::string& file);

}  // namespace stoker::lint
