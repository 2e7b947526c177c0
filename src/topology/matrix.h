// Topology: the text of `nvidia-smi topo -m`, byte for byte (docs/specs/topology.md).
#pragma once

#include <string>

#include "topology/topology.h"

namespace stoker::topology {

// With the tabs, and the underline of the first line, that nvidia-smi prints to files and terminals
// alike.
std::string matrix(const Topology& topology);

}  // namespace stoker::topology
