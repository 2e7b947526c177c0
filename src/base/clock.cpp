#include "base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace stoker {
namespace {

Nanoseconds read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return Seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

class SystemClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime monotonic() const override { return {read_clock(CLOCK_MONOTONIC)}; }
  [[nodiscard]] WallTime wall() const override { return {read_clock(CLOCK_REALTIME)}; }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::string format_utc(WallTime time) {
  const auto total_ms = time.since_epoch.count() / 1'000'000;
  const std::time_t seconds = total_ms / 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), total_ms % 1000);
}

std::string format_duration(Nanoseconds duration) {
  const auto ns = static_cast<double>(duration.count());
  if (ns < 0) return "-" + format_duration(-duration);
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3g} µs", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns < 60e9) return fmt::format("{:.3g} s", ns / 1e9);
  const auto seconds = duration.count() / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds / 3600 % 24);
}

}  // namespace stoker
