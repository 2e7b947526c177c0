// Health stage: the table of checks, for people and as JSON.
#pragma once

#include <span>
#include <string>

#include "health/check.h"
#include "health/rules.h"

namespace stoker::health {

// A block a check: id, severity, what it compares, whose rule it is; at most `width` columns.
std::string checks_table(std::span<const Check> checks, std::size_t width);
// Everything that is known of one.
std::string explain_check(const Check& check, std::size_t width);
// Of a rule about the node as a whole, which no file changes.
std::string explain_rule(const Rule& rule, std::size_t width);
// {"schema":"stoker.dev/v1/check","checks":[...]}; docs/specs/checks.md has the keys.
std::string checks_json(std::span<const Check> checks);
// The same with the one rule, of kind "rule", which has neither thresholds nor times.
std::string rule_json(const Rule& rule);

}  // namespace stoker::health
