// Incident stage: what was so when an incident opened, and five minutes later: a GPU's readings, whose work is on it,
// what was said in between. Pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "incident/signal.h"
#include "model/event.h"
#include "model/incident.h"
#include "store/snapshot.h"

namespace stoker::incident {

// A crash's traces (temperature, clocks, who still holds the card) have settled by then, and nobody has booted yet.
inline constexpr Seconds second_look_after{300};

struct LookLimits {
  static constexpr std::size_t programs = 8;
  static constexpr std::size_t events = 16;
  static constexpr std::size_t text_bytes = 240;  // of an event's line
  // What opened this long before anybody could look has no look at its opening, and then no second one.
  static constexpr Seconds opening{60};
  // A second look that is later than this says nothing of the incident any more.
  static constexpr Seconds latest{3600};
  // More than this behind its time is said to be late.
  static constexpr Seconds late{10};
};

// What a look is taken with.
struct Scene {
  const store::Snapshot& snapshot;
  const NodeView& node;
  const std::function<std::vector<Event>()>&
      events;  // oldest first; asked where a look needs them; not set: none
  WallTime now;
};

// nullopt: none is due now. At most two of an incident.
std::optional<Look> due_look(const Incident& incident, const Scene& scene);

}  // namespace stoker::incident
