// Fabric analyzer: the ports of one node: what their states and counters say. Pure: no clock, no file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fabric/counter.h"
#include "fabric/roce_ports.h"
#include "model/entity.h"
#include "model/finding.h"
#include "model/rdma_port.h"

namespace stoker::fabric {

// Of one counter of one port between two looks.
struct PortCount {
  std::string name;
  Counted counted;
};

// "mlx5_0 port 1".
std::string port_text(const RdmaPort& port);

// {port, "mlx5_0/1"}.
Entity entity_of(const RdmaPort& port);

// The same port at another look; nullptr: it was not there, or there is no other look.
const RdmaPort* same_port(const RdmaPorts* look, const RdmaPort& port);

// Counters of both looks that moved, fell, or stood at their highest value, by name. Traffic is left out.
std::vector<PortCount> counted_on(const RdmaPort& before, const RdmaPort& now);

// What `counts`, which came on `port` within `time`, say: a finding for each rule that they break.
std::vector<Finding> judge_counted(const RdmaPort& port, const std::vector<PortCount>& counts,
                                   Nanoseconds time);

// One port, and what came on it.
struct CountedPort {
  const RdmaPort* port;
  std::vector<PortCount> counts;
};

// Ports by how often they lost their link, where two or more did so equally often.
using LostTogether = std::map<std::uint64_t, std::vector<const RdmaPort*>>;
LostTogether lost_together(const std::vector<CountedPort>& ports);

// What that says, of the node: one finding. `time`: within which it was counted.
Finding judge_together(const std::string& node, const LostTogether& lost, Nanoseconds time);

// Which counters speak for the rule of this name, and from how many on; empty: it is about what one look shows.
std::vector<std::pair<std::string, std::uint64_t>> limits_of(std::string_view rule);

// Worst first. `before`: an earlier look, without which no counter is judged: what they hold has no time. What a port
// should run at is what most others of its kind (model, link layer) run at.
std::vector<Finding> judge_ports(const RdmaPorts& now, const RdmaPorts* before);

// {"schema":"stoker.dev/v1/port","ports":[...],"findings":[...]}, docs/specs/fabric.md. `roce`: with what stands below the
// ports (roce_json.h).
std::string ports_json(const RdmaPorts& now, const RdmaPorts* before,
                       const std::vector<Finding>& findings, const RoceLooks* roce = nullptr);

}  // namespace stoker::fabric
