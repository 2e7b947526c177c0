// Ground stage: units. A unit gives the JSON key its suffix and people their spelling.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class Unit : std::uint8_t {
  none,  // a plain number: a state, a version, a bit mask
  count,
  percent,  // 0..100
  ratio,    // 0..1
  celsius,
  watts,
  joules,
  megahertz,
  bytes,
  bytes_per_second,
  seconds,
  nanoseconds,
};

// Suffix of JSON keys and metric names without underscore: "watts", "bytes_per_second"; empty for
// none and count.
std::string_view key_suffix(Unit unit);
// What people read after a number: "W", "GiB" is left to the renderer; empty for none and count.
std::string_view symbol(Unit unit);

}  // namespace stoker
