// For tests: fabrics, built cable by cable.
#pragma once

#include <fmt/format.h>

#include "fabric/sweep.h"

namespace stoker::fabric {

class FabricBuilder {
 public:
  FabricBuilder() {
    sweep_.taken.since_epoch = Seconds(1'700'000'000);
    sweep_.source = "mlx5_0 port 1";
  }

  FabricBuilder& leaf(Guid guid, const std::string& name, unsigned ports = 8) {
    sweep_.nodes[guid] = {.kind = NodeKind::switch_, .name = name, .ports = {}};
    for (unsigned n = 1; n <= ports; ++n) sweep_.nodes[guid].ports[n] = unlinked();
    return *this;
  }
  FabricBuilder& host(Guid guid, const std::string& name) {
    sweep_.nodes[guid] = {.kind = NodeKind::adapter, .name = name, .ports = {{1, unlinked()}}};
    return *this;
  }
  FabricBuilder& cable(PortName one, PortName other) {
    port(one) = linked(other);
    port(other) = linked(one);
    return *this;
  }
  FabricBuilder& unplug(PortName one) {
    if (const auto peer = port(one).peer) port(*peer) = unlinked();
    port(one) = unlinked();
    return *this;
  }
  // The node is off: nobody sees it, and what was cabled to it is down.
  FabricBuilder& lose(Guid guid) {
    for (const auto& [number, its] : sweep_.nodes.at(guid).ports) {
      if (its.peer) port(*its.peer) = unlinked();
    }
    sweep_.nodes.erase(guid);
    return *this;
  }
  FabricBuilder& count(PortName name, CounterId id, std::uint64_t value) {
    auto& reading = port(name).counters.at(static_cast<std::size_t>(id));
    reading = CounterReading{value, row_of(id).width};
    return *this;
  }
  FabricBuilder& later(Seconds by) {
    sweep_.taken.since_epoch += by;
    return *this;
  }
  Port& port(PortName name) { return sweep_.nodes.at(name.node).ports.at(name.port); }
  [[nodiscard]] const Sweep& sweep() const { return sweep_; }

  static Port unlinked() {
    Port port;
    port.state = LinkState::down;
    port.physical = PhysicalState::polling;
    set_abilities(port);
    return port;
  }
  static Port linked(PortName peer) {
    Port port;
    port.state = LinkState::active;
    port.physical = PhysicalState::link_up;
    port.rate = {4, Speed::hdr};
    port.peer = peer;
    set_abilities(port);
    return port;
  }

 private:
  static void set_abilities(Port& port) {
    constexpr Widths one_and_four = 0x3;
    constexpr Speeds to_hdr = 0x3f;
    port.widths_enabled = port.widths_supported = one_and_four;
    port.speeds_enabled = port.speeds_supported = to_hdr;
    for (const CounterRow& row : counter_rows()) {
      port.counters.at(static_cast<std::size_t>(row.id)) = CounterReading{0, row.width};
    }
  }
  Sweep sweep_;
};

inline constexpr Guid leaf1 = 0x200001;
inline constexpr Guid leaf2 = 0x200002;
inline constexpr Guid spine = 0x200003;
inline constexpr Guid first_host = 0x100001;

// Two leaves with four hosts each at ports 1 to 4, and two cables from each to one spine at their ports 7 and 8.
inline FabricBuilder two_leaves() {
  FabricBuilder fabric;
  fabric.leaf(leaf1, "S-leaf1").leaf(leaf2, "S-leaf2").leaf(spine, "S-spine");
  for (unsigned n = 0; n < 8; ++n) {
    fabric.host(first_host + n, fmt::format("H-gpu{:02}", n + 1));
    fabric.cable({n < 4 ? leaf1 : leaf2, n % 4 + 1}, {first_host + n, 1});
  }
  fabric.cable({leaf1, 7}, {spine, 1}).cable({leaf1, 8}, {spine, 2});
  fabric.cable({leaf2, 7}, {spine, 3}).cable({leaf2, 8}, {spine, 4});
  return fabric;
}

}  // namespace stoker::fabric
