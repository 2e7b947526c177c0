#include "health/rules.h"

#include <array>

namespace stoker::health {
namespace {

constexpr auto rule_rows = std::to_array<Rule>({
#define STOKER_RULE(id, name, severity, action, cause, fix, source) \
  Rule{RuleId::id, name, Severity::severity, Action::action, cause, fix, source},
#include "health/rules.def"
#undef STOKER_RULE
});

}  // namespace

std::span<const Rule> all_rules() { return rule_rows; }

const Rule& rule(RuleId id) { return rule_rows.at(static_cast<std::size_t>(id)); }

}  // namespace stoker::health
