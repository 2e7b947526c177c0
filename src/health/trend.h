// Health stage: what one value did lately. Bounded: some twenty samples, whatever the window.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"

namespace stoker::health {

class Trend {
 public:
  // A reading; one that was taken no later than the newest is the same again, and ignored. A counter that fell
  // began anew (a driver reload): what was before is forgotten, its first value too.
  void add(MonotonicTime at, double value, Nanoseconds window, bool counter);

  // What came in within the window, if two readings tell; of a longer span, its share. nullopt: not known.
  [[nodiscard]] std::optional<double> increase(Nanoseconds window) const;
  // Share of the time, in percent, that a counter of nanoseconds rose, over at least half the window.
  [[nodiscard]] std::optional<double> percent_of_time(Nanoseconds window) const;

  // Changes of the newest reading; nullopt: there is only that one.
  [[nodiscard]] std::optional<double> since_first() const;
  [[nodiscard]] std::optional<double> since_last() const;

 private:
  struct Sample {
    MonotonicTime at;
    double value = 0;
  };
  [[nodiscard]] Nanoseconds span() const;

  // By time; the newest always, others thinned out. A deque takes 0.5 KiB before the first sample, and most checks of
  // most links have none.
  std::vector<Sample> samples_;
  std::optional<double> first_;
  std::optional<double> previous_;  // the reading before the newest
};

}  // namespace stoker::health
