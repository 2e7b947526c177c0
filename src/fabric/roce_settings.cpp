#include "fabric/roce_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace stoker::fabric {
namespace {

std::string pause_text(const PauseSettings& pause) {
  if (pause.receives && pause.sends) return "both ways";
  if (pause.receives) return "obeyed only";
  return pause.sends ? "sent only" : "off";
}

// "24-31:3, 48:6"
std::string dscp_text(const std::map<unsigned, unsigned>& map) {
  std::vector<std::string> parts;
  for (auto at = map.begin(); at != map.end();) {
    const auto [first, priority] = *at;
    auto last = first;
    for (++at; at != map.end() && at->first == last + 1 && at->second == priority; ++at)
      last = at->first;
    parts.push_back(first == last ? fmt::format("{}:{}", first, priority)
                                  : fmt::format("{}-{}:{}", first, last, priority));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string classes_text(const EtsSettings& ets) {
  return fmt::format("{}", fmt::join(ets.class_of, ","));
}

void add_number(std::vector<RoceSetting>& out, std::string_view name,
                const std::optional<unsigned>& value) {
  if (value) out.push_back({name, std::to_string(*value)});
}

}  // namespace

std::string priorities_text(const PriorityMask& mask) {
  std::vector<unsigned> on;
  for (unsigned priority = 0; priority < mask.size(); ++priority) {
    if (mask[priority]) on.push_back(priority);
  }
  return on.empty() ? "none" : fmt::format("{}", fmt::join(on, ", "));
}

std::optional<bool> trusts_dscp(const RoceNetdev& netdev) {
  if (!netdev.dcb) return std::nullopt;
  if (netdev.dcb->trust)
    return std::ranges::find(*netdev.dcb->trust, "dscp") != netdev.dcb->trust->end();
  if (!netdev.dcb->priority_of_dscp.empty()) return true;
  // Of the drivers that do not say, mlx5's rule is known: it trusts DSCP as long as one is mapped (en_dcbnl.c).
  return netdev.driver == "mlx5_core" ? std::optional(false) : std::nullopt;
}

std::optional<PriorityMask> ecn_priorities(const std::vector<const RdmaPort*>& ports) {
  std::optional<PriorityMask> mask;
  for (const RdmaPort* port : ports) {
    for (const auto* side : {&port->ecn_notices, &port->ecn_reacts}) {
      for (const auto& [priority, on] : *side) {
        if (!mask) mask.emplace();
        if (on && priority < mask->size()) mask->set(priority);
      }
    }
  }
  return mask;
}

std::vector<RoceSetting> settings_of(const RoceNetdev& netdev,
                                     const std::vector<const RdmaPort*>& ports) {
  std::vector<RoceSetting> out;
  if (netdev.dcb && netdev.dcb->pfc) out.push_back({"PFC", priorities_text(*netdev.dcb->pfc)});
  if (netdev.pause) out.push_back({"pause", pause_text(*netdev.pause)});
  if (const auto ecn = ecn_priorities(ports)) out.push_back({"ECN", priorities_text(*ecn)});
  if (const auto trusted = trusts_dscp(netdev))
    out.push_back({"trusts DSCP", *trusted ? "yes" : "no"});
  if (netdev.dcb && !netdev.dcb->priority_of_dscp.empty())
    out.push_back({"DSCP to priority", dscp_text(netdev.dcb->priority_of_dscp)});
  if (netdev.dcb && netdev.dcb->ets)
    out.push_back({"priority to class", classes_text(*netdev.dcb->ets)});
  add_number(out, "CNP DSCP", netdev.cnp_dscp);
  add_number(out, "CNP priority", netdev.cnp_priority);
  add_number(out, "traffic class", netdev.traffic_class);
  add_number(out, "default ToS", netdev.default_tos);
  return out;
}

std::string roce_text(const RoceNetdev& netdev, const std::vector<const RdmaPort*>& ports) {
  std::vector<std::string> parts;
  for (const RoceSetting& setting : settings_of(netdev, ports)) {
    // What is long stands in -o json.
    if (setting.name != "DSCP to priority" && setting.name != "priority to class")
      parts.push_back(fmt::format("{} {}", setting.name, setting.value));
  }
  if (netdev.software) parts.emplace_back("software RoCE");
  if (!netdev.dcb)
    parts.push_back(fmt::format("PFC not known ({})", netdev.dcb_reason));
  else if (!netdev.dcb->pfc)
    parts.emplace_back("PFC not known (its driver tells none)");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace stoker::fabric
