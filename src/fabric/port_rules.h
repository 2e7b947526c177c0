// Fabric analyzer: the rules about the ports of a node's own cards as types. Rows stand in port_rules.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "model/action.h"
#include "model/finding.h"

namespace stoker::fabric {

enum class PortRule : std::uint8_t {
#define STOKER_PORT_RULE(id, ...) id,
#include "fabric/port_rules.def"
#undef STOKER_PORT_RULE
};

// What a rule speaks of.
enum class PortAbout : std::uint8_t { port, path, setting };

struct PortRuleRow {
  std::string_view rule;  // "port-down"; never changes once published
  PortAbout about;
  Severity severity;
  Action action;
  Nanoseconds holds;
  Nanoseconds window;  // 0: it is about one look
  std::string_view title;
  std::string_view cause;
  std::string_view fix;
  std::string_view source;
};

// In the order of PortRule.
std::span<const PortRuleRow> all_port_rules();
const PortRuleRow& port_rule(PortRule rule);

}  // namespace stoker::fabric
