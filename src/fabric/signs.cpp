#include "fabric/signs.h"

#include <fmt/format.h>

#include <array>

namespace stoker::fabric {
namespace {

constexpr std::array verdict_rows = {
#define STOKER_FABRIC_VERDICT(name, rule, word, action, cause, fix, source) \
  VerdictRow{Verdict::name, rule, word, Action::action, cause, fix, source},
#include "fabric/verdicts.def"
#undef STOKER_FABRIC_VERDICT
};

}  // namespace

const VerdictRow& row_of(Verdict verdict) {
  return verdict_rows.at(static_cast<std::size_t>(verdict));
}

std::string Look::reference_text() const {
  if (expected != nullptr) return "the saved fabric";
  return previous == nullptr ? "" : "the sweep of " + format_utc(previous->taken);
}

std::string Look::name_of(Guid guid) const {
  for (const Sweep* sweep : {&now, expected, previous}) {
    if (sweep != nullptr && sweep->node(guid) != nullptr) return sweep->name_of(guid);
  }
  return guid_text(guid);
}

std::string Look::end_text(const PortName& end) const {
  if (end.node == 0) return "an end that does not answer";
  return fmt::format("{} port {}", name_of(end.node), end.port);
}

std::string Look::cable_text(const Cable& cable) const {
  return fmt::format("{} <-> {}", end_text(cable.one), end_text(cable.other));
}

std::string Look::guids_text(const Cable& cable) const {
  const auto text = [](const PortName& end) {
    return end.node == 0 ? std::string("?") : fmt::format("{}/{}", guid_text(end.node), end.port);
  };
  return fmt::format("{} <-> {}", text(cable.one), text(cable.other));
}

}  // namespace stoker::fabric
