// Topology: a drawing for people, at most 80 columns wide: NUMA nodes, the PCIe tree below them, NVLink,
// the NIC that each GPU should use, and what is odd.
#pragma once

#include <string>

#include "topology/topology.h"

namespace stoker::topology {

std::string drawing(const Topology& topology);

}  // namespace stoker::topology
