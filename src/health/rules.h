// Health stage: the rules table as types. Rows stand in rules.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/action.h"
#include "model/finding.h"

namespace stoker::health {

enum class RuleId : std::uint8_t {
#define STOKER_RULE(id, ...) id,
#include "health/rules.def"
#undef STOKER_RULE
};

struct Rule {
  RuleId id;
  std::string_view name;  // "gpu-lost"
  Severity severity;
  Action action;
  std::string_view cause;
  std::string_view fix;
  std::string_view source;
};

std::span<const Rule> all_rules();
const Rule& rule(RuleId id);

}  // namespace stoker::health
