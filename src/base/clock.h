// Ground stage: time. Durations and deadlines use the monotonic clock, which never goes back;
// wall time is only for people and for origin stamps. Both come through Clock so that tests move it.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace stoker {

using Nanoseconds = std::chrono::nanoseconds;
using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

// Nanoseconds of CLOCK_MONOTONIC: comparable between the processes of one machine, not across boots.
struct MonotonicTime {
  Nanoseconds since_boot{0};
  friend auto operator<=>(const MonotonicTime&, const MonotonicTime&) = default;
  friend Nanoseconds operator-(MonotonicTime a, MonotonicTime b) {
    return a.since_boot - b.since_boot;
  }
  friend MonotonicTime operator+(MonotonicTime a, Nanoseconds d) { return {a.since_boot + d}; }
};

// Nanoseconds since 1970-01-01 UTC; may jump.
struct WallTime {
  Nanoseconds since_epoch{0};
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual MonotonicTime monotonic() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

// The machine's clocks. One object for the whole process; safe from any thread.
const Clock& system_clock();

// A clock that stands still until a test moves it. Safe from any thread.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime monotonic() const override { return {Nanoseconds(mono_.load())}; }
  [[nodiscard]] WallTime wall() const override { return {Nanoseconds(wall_.load())}; }
  void advance(Nanoseconds by) {
    mono_ += by.count();
    wall_ += by.count();
  }
  // Sets wall time alone, as an operator or NTP does; monotonic time goes on.
  void set_wall(WallTime to) { wall_ = to.since_epoch.count(); }

 private:
  std::atomic<std::int64_t> mono_{1'000'000'000};
  std::atomic<std::int64_t> wall_{1'700'000'000'000'000'000};
};

// "2026-11-27T23:08:25.123Z".
std::string format_utc(WallTime time);
// "2.5 s", "310 ms", "42 µs", "3 h 12 min": two significant parts, for people.
std::string format_duration(Nanoseconds duration);

}  // namespace stoker
