// Incident stage: one moment by both clocks of the node.
#pragma once

#include "base/clock.h"

namespace stoker::incident {

struct Now {
  MonotonicTime monotonic;
  WallTime wall;
};
inline Now now_of(const Clock& clock) { return {clock.monotonic(), clock.wall()}; }

}  // namespace stoker::incident
