// Fabric analyzer: what NVIDIA UFM answers, as a sweep. Pure: the text of an answer in, a sweep out.
#pragma once

#include <string_view>

#include "base/result.h"
#include "fabric/sweep.h"

namespace stoker::fabric {

// The answer of GET /resources/ports (UFM Enterprise REST API Guide, "Ports REST API"): a list of
// {"name":"GUID_NUMBER","peer":"GUID_NUMBER","number","node_description","logical_state","physical_state","active_speed",
// "active_width","enabled_speed":[],"supported_width":[],...}. It has no counters: the sweep says so. A port of an adapter
// is a node of its own, since the list knows ports' GUIDs. corrupt: no such list.
Result<Sweep> read_ufm_ports(std::string_view text);

}  // namespace stoker::fabric
