#include "fabric/port_rules.h"

#include <array>

namespace stoker::fabric {
namespace {

constexpr auto port_rule_rows = std::to_array<PortRuleRow>({
#define STOKER_PORT_RULE(id, rule, about, severity, action, holds, window, title, cause, fix, \
                         source)                                                              \
  {rule,                                                                                      \
   PortAbout::about,                                                                          \
   Severity::severity,                                                                        \
   Action::action,                                                                            \
   Seconds(holds),                                                                            \
   Seconds(window),                                                                           \
   title,                                                                                     \
   cause,                                                                                     \
   fix,                                                                                       \
   source},
#include "fabric/port_rules.def"
#undef STOKER_PORT_RULE
});

}  // namespace

std::span<const PortRuleRow> all_port_rules() { return port_rule_rows; }

const PortRuleRow& port_rule(PortRule rule) {
  return port_rule_rows.at(static_cast<std::size_t>(rule));
}

}  // namespace stoker::fabric
