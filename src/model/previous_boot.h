// Ground stage: what is known of the boot before this one: how it ended, and what the kernel said last. Evidence: nobody
// saw it alive, and nothing is done because of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/event.h"

namespace stoker {

enum class BootEnd : std::uint8_t {
  unknown,  // it can't be told
  clean,    // it was shut down
  unclean   // it broke off
};

// Stable lower-case word.
const char* to_string(BootEnd end);

struct PreviousBoot {
  bool known = false;  // there is a source that tells of one
  std::string boot;    // boot id; empty: its source does not say
  std::optional<WallTime> ended;
  BootEnd end = BootEnd::unknown;
  std::string why;                 // how that is known, in a sentence
  std::string source;              // "/var/log/journal"; empty: none
  std::uint64_t records = 0;       // of the kernel that were read
  std::vector<std::string> notes;  // what could not be read, or was left out
  std::vector<Event> events;       // of its last part, oldest first
};

// An event of it has this detail, with how that boot ended as its value.
inline constexpr const char* detail_previous_boot = "previous_boot";

}  // namespace stoker
