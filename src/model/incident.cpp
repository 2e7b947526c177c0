#include "model/incident.h"

namespace stoker {

const char* to_string(IncidentState state) {
  switch (state) {
    case IncidentState::open: return "open";
    case IncidentState::acknowledged: return "acknowledged";
    case IncidentState::mitigating: return "mitigating";
    case IncidentState::proving: return "proving";
    case IncidentState::resolved: return "resolved";
    case IncidentState::suppressed: return "suppressed";
  }
  return "open";
}

std::optional<IncidentState> incident_state_of(std::string_view word) {
  using enum IncidentState;
  for (const auto state : {open, acknowledged, mitigating, proving, resolved, suppressed}) {
    if (word == to_string(state)) return state;
  }
  return std::nullopt;
}

const char* to_string(LookKind kind) {
  return kind == LookKind::opening ? "opening" : "afterwards";
}

std::optional<LookKind> look_kind_of(std::string_view word) {
  using enum LookKind;
  for (const auto kind : {opening, afterwards}) {
    if (word == to_string(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace stoker
