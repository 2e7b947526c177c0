// Test support: GPU 3 that fell off the bus, as one incident.
#pragma once

#include <cstdint>

#include "model/incident.h"

namespace stoker {

inline Incident off_bus_incident(std::uint64_t id, IncidentState state = IncidentState::open) {
  Incident one;
  one.id = id;
  one.revision = 1;
  one.state = state;
  one.severity = Severity::critical;
  one.entity = {EntityKind::gpu, "GPU-3"};
  one.about = "GPU 3 (0000:9a:00.0)";
  one.pci = "0000:9a:00.0";
  one.cause = "gpu-off-bus";
  one.action = Action::reboot;
  one.message = "GPU 3 (0000:9a:00.0): Xid 79, GPU has fallen off the bus";
  one.opened_at = one.updated_at = one.last_seen = WallTime{Seconds(1'700'000'000)};
  one.told = telling_of(one);
  if (state == IncidentState::resolved) one.resolved_at = one.opened_at;
  return one;
}

}  // namespace stoker
