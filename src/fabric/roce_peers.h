// Fabric analyzer: RoCE ports of a node against each other, and what its packet filter is for.
#pragma once

#include <string>
#include <vector>

#include "fabric/roce_ports.h"

namespace stoker::fabric {

// "mlx5_0/1" of the first of `ports`; the network device's name, where there is none.
std::string roce_entity(const RoceNetdev& netdev, const std::vector<const RdmaPort*>& ports);

// Ports that are set up otherwise than more than half of the linked ones of their model.
void judge_roce_peers(const RoceLooks& looks, std::vector<Finding>& out);
// Rules for RoCE's port, on a node whose adapters never show the filter a packet of it.
void judge_bypassed_filter(const RoceLooks& looks, std::vector<Finding>& out);

}  // namespace stoker::fabric
