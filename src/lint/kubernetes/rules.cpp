#include "lint/kubernetes/rules.h"

#include <array>

namespace stoker::lint::kubernetes {
namespace {

constexpr auto rule_rows = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, rule, severity, fixing, title, why, fix, source) \
  Rule{rule, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/kubernetes/rules.def"
#undef STOKER_LINT_RULE
});

}  // namespace

RuleTable rules() { return rule_rows; }

const Rule& row_of(RuleId id) { return rule_rows.at(static_cast<std::size_t>(id)); }

}  // namespace stoker::lint::kubernetes
