// Ground stage: how a source of events is doing. A source that can't be read is said, since its silence
// would look like health.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

struct EventSource {
  std::string name;               // "/dev/kmsg"
  bool followed = false;          // what it says is read now
  std::string problem;            // why it is not; empty: it is, or has not been opened yet
  std::uint64_t records = 0;      // read since the agent started; rises
  std::uint64_t overwritten = 0;  // that were gone before they were read; rises
  std::uint64_t malformed = 0;    // that were no records; rises
  friend bool operator==(const EventSource&, const EventSource&) = default;
};

}  // namespace stoker
