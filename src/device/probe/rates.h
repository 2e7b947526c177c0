// Device stage: how often the probe may make calls of each cost class. Decided in the agent, carried
// by the protocol, obeyed by sample/schedule.
#pragma once

#include "base/clock.h"
#include "catalog/field.h"

namespace stoker::device::probe {

// The defaults weigh how fresh a value is against what its call costs: docs/measurements.md.
struct SampleRates {
  Nanoseconds cheap = Seconds(1);      // 1-20 µs a call
  Nanoseconds gpm = Seconds(2);        // 0.7 ms a sample, which is the mean since the last one
  Nanoseconds firmware = Seconds(15);  // 0.1-2 ms: a round trip to the GPU's firmware
  Nanoseconds dear = Seconds(60);      // 3 ms and more
  Nanoseconds rare = Seconds(300);     // 15 ms and more
  Nanoseconds processes = Seconds(5);  // the list of processes
  Nanoseconds refresh = Seconds(10);   // what may change while a GPU is open (MIG devices)
  // Every period is divided by this: 20 makes a soak of 30 minutes see what 10 hours would.
  double scale = 1.0;
  // A getter that costs far more than its class is moved to a slower period (sample/schedule.h).
  bool demote = true;
};

// A period at this scale.
Nanoseconds scaled(Nanoseconds period, double scale);
// The shortest period in force: the rounds of all GPUs begin at multiples of it.
Nanoseconds tick_of(const SampleRates& rates);
// How long after the beginning of a round the rounds of all GPUs of a node are over, if all is well.
inline constexpr Nanoseconds all_rounds = Milliseconds(60);

// How often a field of this class is read when its calls cost what its class says; zero for `fixed`.
Nanoseconds period_of(const SampleRates& rates, CostClass cost);

}  // namespace stoker::device::probe
