// Sample stage: counters that must never fall, and the energy of one GPU. The driver's own energy
// counter costs 3 ms a call (docs/measurements.md), so it is read once a minute; in between, power is
// integrated. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "model/reading.h"

namespace stoker::sample {

// A driver's counter that may begin again at zero (the driver was loaded anew), told so that it goes
// on from where it was. A count below half of the last one began again; a smaller step back is noise
// and is held.
class RisingCounter {
 public:
  // Takes the driver's count; returns ours.
  double take(double count);

 private:
  double last_ = 0;
  double offset_ = 0;
};

// The counter only rises, whatever comes in whatever order: a probe that starts anew, a driver that
// counts from zero again, a gap, a GPU that was away. It begins at the driver's first count, since
// it means "since the driver was loaded"; before that, and where the driver does not count, there is
// none. Between two counts of the driver it is off by what the integral is off, never by more.
class EnergyCounter {
 public:
  void on_power(const Reading& watts);
  void on_driver(const Reading& joules);
  // The counter as of the last power; a GPU whose power can't be read has none, with the reason.
  [[nodiscard]] Reading now() const;

  // Longer gaps between two powers add nothing: the driver's count makes up for them.
  static constexpr Nanoseconds longest_gap = Seconds(10);

 private:
  void raise_to(double joules);

  Reading power_;  // the last one
  Reading count_;  // the driver's last one
  RisingCounter driver_;
  std::optional<double> estimate_;  // the driver's count plus the integral since
  double told_ = 0;                 // the greatest estimate
};

}  // namespace stoker::sample
