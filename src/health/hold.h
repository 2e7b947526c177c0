// Health stage: how long something has been so. From "holds just now" to suspect, firing, and over again.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "health/check.h"

namespace stoker::health {

enum class Truth : std::uint8_t { no, yes, unknown };
// no, if one is no; else unknown, if one is unknown.
Truth both(Truth one, Truth other);

// What is known after that long without a reading is told no more, but for a finding whose reading fails: a fault is not
// cured by a driver that stops answering for it. Longer than a driver's restart and a reset of a GPU take, which are the
// usual gaps; other findings say meanwhile that nothing is read.
inline constexpr Nanoseconds kept_while_unknown = std::chrono::minutes(10);

// Time that is not known counts for nothing: it neither makes a check fire nor ends it.
class Hold {
 public:
  // `reading_at`: when the value that `truth` rests on was read. `reading_fails`: it is unknown for the driver or the
  // kernel does not tell, and not because there is nothing to be told (a job that is over, a value that others lack).
  void advance(const Check& check, Truth truth, MonotonicTime reading_at, MonotonicTime now,
               WallTime wall, bool grace_is_over, bool reading_fails = false);

  [[nodiscard]] bool suspect() const { return since_.has_value() && !firing_; }
  [[nodiscard]] bool firing() const { return firing_; }
  [[nodiscard]] Truth truth() const { return last_; }
  [[nodiscard]] std::optional<WallTime> since() const { return since_; }
  [[nodiscard]] Nanoseconds held() const { return held_; }
  [[nodiscard]] unsigned readings() const { return readings_; }
  [[nodiscard]] Nanoseconds cleared_for() const { return cleared_; }
  [[nodiscard]] Nanoseconds unknown_for() const { return unknown_; }

 private:
  void holds(const Check& check, Nanoseconds gap, MonotonicTime reading_at, WallTime wall,
             bool grace_is_over);
  void forget();

  Truth last_ = Truth::unknown;
  std::optional<MonotonicTime> evaluated_;
  bool firing_ = false;
  std::optional<WallTime> since_;
  Nanoseconds held_{0};
  Nanoseconds cleared_{0};
  Nanoseconds unknown_{0};
  unsigned readings_ = 0;
  MonotonicTime last_reading_;
};

}  // namespace stoker::health
