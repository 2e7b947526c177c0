#include "fabric/roce_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fabric/roce_ports.h"
#include "model/action.h"
#include "model/roce.h"

namespace stoker::fabric {
namespace {

struct RoceRuleRow {
  std::string_view rule;
  Severity severity;
  Action action;
  std::string_view cause;
  std::string_view fix;
  std::string_view source;
};

constexpr auto roce_rules = std::to_array<RoceRuleRow>({
#define STOKER_ROCE_RULE(id, rule, severity, action, cause, fix, source) \
  {rule, Severity::severity, Action::action, cause, fix, source},
#include "fabric/roce_rules.def"
#undef STOKER_ROCE_RULE
});

constexpr auto roce_counters = std::to_array<RoceCounterRow>({
#define STOKER_ROCE_COUNTER(name, tells, too_many, words) {name, RoceTells::tells, too_many, words},
#include "fabric/roce_counters.def"
#undef STOKER_ROCE_COUNTER
});

bool is_priority(char c) { return c >= '0' && c < '0' + static_cast<int>(ethernet_priorities); }

bool fits(std::string_view name, std::string_view pattern) {
  return std::ranges::equal(name, pattern, [](char c, char wanted) {
    return wanted == '#' ? is_priority(c) : c == wanted;
  });
}

}  // namespace

Finding roce_finding(RoceRule rule, std::string port, std::string message,
                     std::vector<std::string> evidence) {
  const RoceRuleRow& row = roce_rules.at(static_cast<std::size_t>(rule));
  return finding_by(row.rule, row, {EntityKind::port, std::move(port)}, std::move(message),
                    std::move(evidence));
}

const RoceCounterRow* roce_counter(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      roce_counters, [&](const RoceCounterRow& row) { return fits(name, row.pattern); });
  return found == roce_counters.end() ? nullptr : found;
}

std::optional<unsigned> priority_in(std::string_view name) {
  const auto* const row = roce_counter(name);
  const auto at = row == nullptr ? std::string_view::npos : row->pattern.find('#');
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(name[at] - '0');
}

bool is_roce_counter(std::string_view name) { return roce_counter(name) != nullptr; }

}  // namespace stoker::fabric
