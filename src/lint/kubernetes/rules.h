// Analyzer stage: the rules about manifests as types. Rows stand in rules.def.
#pragma once

#include <cstdint>

#include "lint/rule.h"

namespace stoker::lint::kubernetes {

enum class RuleId : std::uint8_t {
#define STOKER_LINT_RULE(id, ...) id,
#include "lint/kubernetes/rules.def"
#undef STOKER_LINT_RULE
};

RuleTable rules();
const Rule& row_of(RuleId id);

}  // namespace stoker::lint::kubernetes
