// Fabric analyzer: how a RoCE port's network device is set up, as texts that can be compared and shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/roce_ports.h"

namespace stoker::fabric {

// "3", "3, 4", "none".
std::string priorities_text(const PriorityMask& mask);
// DSCP, where it is trusted for sure: one is mapped, or the driver says so. nullopt: not known.
std::optional<bool> trusts_dscp(const RoceNetdev& netdev);
// Priorities that have ECN at the notification or at the reaction point; nullopt: the driver has no such files.
std::optional<PriorityMask> ecn_priorities(const std::vector<const RdmaPort*>& ports);

struct RoceSetting {
  std::string_view name;  // "PFC"
  std::string value;      // "3"
};
// Those that are known.
std::vector<RoceSetting> settings_of(const RoceNetdev& netdev,
                                     const std::vector<const RdmaPort*>& ports);

}  // namespace stoker::fabric
