// Edge: how far the replay of a recording is, for the status. Whoever replays fills it.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace stoker::api {

struct ReplayTold {
  std::string file;
  WallTime recorded_at;     // its beginning
  Nanoseconds length{0};    // of the recording
  Nanoseconds position{0};  // from its beginning
  double speed = 1;
  std::uint64_t lost_bytes = 0;  // of a tail that was not written whole
  bool ended = false;            // the last state stays
  std::string problem;           // why it ended before the recording did
};

}  // namespace stoker::api
