// Fabric analyzer: roce_counters.def and roce_rules.def as tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace stoker::fabric {

enum class RoceRule : std::uint8_t {
#define STOKER_ROCE_RULE(id, ...) id,
#include "fabric/roce_rules.def"
#undef STOKER_ROCE_RULE
};

// A finding by that rule. `port`: "mlx5_0/1", as of node_ports.h.
Finding roce_finding(RoceRule rule, std::string port, std::string message,
                     std::vector<std::string> evidence);

// What a counter tells; `told`: it is shown and never judged.
enum class RoceTells : std::uint8_t {
  discards,
  priority_discards,
  sends_discarded,
  paused,
  pauses,
  pause_frames,
  storm_near,
  storm,
  link_down,
  signal,
  oversize,
  pci,
  told,
};

struct RoceCounterRow {
  std::string_view pattern;  // "rx_prio#_discards"
  RoceTells tells;
  std::uint64_t too_many;
  std::string_view words;
};
// nullptr: it has no row.
const RoceCounterRow* roce_counter(std::string_view name);
// "rx_prio3_discards": 3.
std::optional<unsigned> priority_in(std::string_view name);

}  // namespace stoker::fabric
