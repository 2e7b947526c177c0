// Ground stage: durations as people write them in options, files and requests, and as documents and series have them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace stoker {

// "250ms", "10s", "1.5s", "5m", "1h", "7d". A number alone is refused: seconds and minutes are too
// easily mistaken for one another.
Result<Nanoseconds> parse_duration(std::string_view text);

// The shortest of these spellings that says the same.
std::string duration_text(Nanoseconds duration);

constexpr double in_seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace stoker
