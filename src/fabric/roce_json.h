// Fabric analyzer: what stands below RoCE ports, as members of a JSON document (docs/specs/fabric.md).
#pragma once

#include "base/json_text.h"
#include "fabric/roce_ports.h"

namespace stoker::fabric {

// Members "netdevs", "netdevs_unread" and "packet_filter" of the object that is open.
void write_roce(JsonWriter& json, const RoceLooks& looks);

}  // namespace stoker::fabric
