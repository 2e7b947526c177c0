// Ground stage: that somebody works on this node on purpose, and until when. What goes away meanwhile is no fault.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/event.h"

namespace stoker {

struct Maintenance {
  WallTime began;
  WallTime ends;           // by the wall clock as it was then
  MonotonicTime began_at;  // the same moment as `began`, since the boot `boot`
  std::string boot;        // boot id; empty: not known
  std::string who;
  std::string why;
  // Events of this boot that wait for its end. In their source they count as read, so their places are kept here.
  std::vector<EventOrigin> waiting;
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

// While it holds something back.
struct MaintenanceNow {
  Maintenance mark;
  WallTime until;  // by the wall clock of now
};

// What somebody asks for.
struct MaintenanceRequest {
  std::optional<Nanoseconds> length;  // from now on; nullopt: it is over
  std::string who;
  std::string why;
};

}  // namespace stoker
