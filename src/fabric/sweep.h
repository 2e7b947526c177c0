// Fabric analyzer: one look at a whole fabric, as a value. Who made it (the subnet's own agents, UFM, a file) makes no
// difference to who judges it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fabric/counter.h"
#include "fabric/link_rate.h"

namespace stoker::fabric {

using Guid = std::uint64_t;

// "0x0002c9030003cca7".
std::string guid_text(Guid guid);

// NOLINTNEXTLINE(readability-identifier-naming): "switch" is C++'s
enum class NodeKind : std::uint8_t { unknown, adapter, switch_, router };
// Volume 1, 14.2.5.6. unknown: a code that the specification has not, or a source that does not tell.
enum class LinkState : std::uint8_t { unknown, down, initialize, armed, active };
enum class PhysicalState : std::uint8_t {
  unknown,
  sleep,
  polling,
  disabled,
  training,
  link_up,
  error_recovery,
  test
};

// Stable lower-case words, "switch", "active", "polling"; and back: unknown for a word that is none.
const char* to_string(NodeKind kind);
const char* to_string(LinkState state);
const char* to_string(PhysicalState state);
NodeKind node_kind_of(std::string_view word);
LinkState link_state_of(std::string_view word);
PhysicalState physical_state_of(std::string_view word);

// A port by its node and number.
struct PortName {
  Guid node = 0;
  unsigned port = 0;
  friend auto operator<=>(const PortName&, const PortName&) = default;
};

using Counters = std::array<std::optional<CounterReading>, counter_count>;

struct Port {
  std::string unread;  // why nothing of it is known; empty: it was read
  LinkState state = LinkState::unknown;
  PhysicalState physical = PhysicalState::unknown;
  LinkRate rate;              // now; of a link that is up
  Widths widths_enabled = 0;  // 0: not told
  Widths widths_supported = 0;
  Speeds speeds_enabled = 0;
  Speeds speeds_supported = 0;
  std::optional<PortName> peer;  // the other end of its cable
  Counters counters;
  std::string counters_unread;  // why there are none; empty: they were read, or nobody asked

  [[nodiscard]] bool linked() const { return peer.has_value(); }
};

struct Node {
  NodeKind kind = NodeKind::unknown;
  std::string name;                // its description, for people; may be anybody's
  std::map<unsigned, Port> ports;  // by number
};

struct Sweep {
  WallTime taken;  // when the counters were read, in the middle
  Nanoseconds took{0};
  std::string source;       // "mlx5_0 port 1", "UFM https://ufm"
  std::string no_counters;  // why no port has any: its source has none; empty: they were asked for
  std::map<Guid, Node> nodes;

  [[nodiscard]] const Node* node(Guid guid) const;
  [[nodiscard]] const Port* port(const PortName& name) const;  // nullptr: there is none
  // "S-leaf1", or the GUID of a node without a name.
  [[nodiscard]] std::string name_of(Guid guid) const;
};

// A cable by its ends. `one` is the switch's where the other is an adapter's, else the lower; so a cable is one value.
struct Cable {
  PortName one;
  PortName other;
  friend auto operator<=>(const Cable&, const Cable&) = default;
};
Cable cable_of(const Sweep& sweep, const PortName& end, const PortName& peer);
// Every cable that has two ends which were seen, once.
std::vector<Cable> cables_of(const Sweep& sweep);

}  // namespace stoker::fabric
