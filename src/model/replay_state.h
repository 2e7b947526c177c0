// Ground stage: how far the replay of a recording is. The source that replays tells it, the status shows it.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace stoker {

struct ReplayState {
  std::string file;
  WallTime recorded_at;     // its beginning
  Nanoseconds length{0};    // of the recording
  Nanoseconds position{0};  // from its beginning
  double speed = 1;
  std::uint64_t lost_bytes = 0;  // of a tail that was not written whole
  bool ended = false;            // nothing more is told; the last state stays
  std::string problem;           // why it ended before the recording did
};

}  // namespace stoker
