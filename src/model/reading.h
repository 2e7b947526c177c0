// Ground stage: a reading is a value, or the reason why there is none. Never 0 or NaN for "none".
#pragma once

#include <cstdint>
#include <variant>

#include "base/clock.h"

namespace stoker {

// Why there is no value. `ok` means that there is one.
enum class Reason : std::uint8_t {
  ok,
  pending,        // not read yet
  not_supported,  // the device or driver says that it has no such thing
  no_permission,  // the driver or the kernel refused us
  no_source,      // no open source for this on this architecture (rates before Hopper, say)
  lost,           // the GPU is off the bus or gone
  hung,           // the driver call has not returned
  stale,          // the last value is too old to be told as current
  invalid,        // the driver answered with something outside the physical range
  driver_gone,    // driver not loaded, library missing, or version mismatch
  failed,         // any other driver error
};

// Stable lower-case word for JSON and metrics labels, e.g. "not_supported".
const char* to_string(Reason reason);
// What a person should know, e.g. "the driver call has not returned".
const char* describe(Reason reason);

// An integer stays an integer: counters reach 2^63 without loss.
using Value = std::variant<std::int64_t, double>;

inline double as_double(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

struct Reading {
  Value value = std::int64_t{0};  // meaningful only when reason is ok
  Reason reason = Reason::pending;
  MonotonicTime taken_at;  // when the call returned
  Nanoseconds took{0};     // how long the call took (0: read from memory)

  [[nodiscard]] bool ok() const { return reason == Reason::ok; }

  static Reading of(std::int64_t v, MonotonicTime at, Nanoseconds took = Nanoseconds{0}) {
    return {v, Reason::ok, at, took};
  }
  static Reading of(double v, MonotonicTime at, Nanoseconds took = Nanoseconds{0}) {
    return {v, Reason::ok, at, took};
  }
  static Reading none(Reason why, MonotonicTime at, Nanoseconds took = Nanoseconds{0}) {
    return {std::int64_t{0}, why, at, took};
  }
};

}  // namespace stoker
