#include "sample/energy.h"

#include <algorithm>

namespace stoker::sample {

double RisingCounter::take(double count) {
  if (count < last_ / 2) {
    offset_ += last_;
    last_ = count;
  }
  last_ = std::max(last_, count);
  return offset_ + last_;
}

void EnergyCounter::raise_to(double joules) {
  estimate_ = joules;
  told_ = std::max(told_, joules);
}

void EnergyCounter::on_power(const Reading& watts) {
  if (power_.ok() && watts.ok() && estimate_ && watts.taken_at > power_.taken_at) {
    const Nanoseconds gap = watts.taken_at - power_.taken_at;
    const double seconds = std::chrono::duration<double>(gap).count();
    const double mean = (as_double(watts.value) + as_double(power_.value)) / 2;
    if (gap <= longest_gap && mean > 0) raise_to(*estimate_ + mean * seconds);
  }
  if (!watts.ok() || !power_.ok() || watts.taken_at > power_.taken_at) power_ = watts;
}

void EnergyCounter::on_driver(const Reading& joules) {
  count_ = joules;
  if (joules.ok()) raise_to(driver_.take(as_double(joules.value)));
}

Reading EnergyCounter::now() const {
  const MonotonicTime at = std::max(power_.taken_at, count_.taken_at);
  if (!estimate_) return Reading::none(count_.reason, at);
  // Where power can't be read at all, the driver's count alone tells.
  const bool integrated =
      power_.reason != Reason::not_supported && power_.reason != Reason::pending;
  if (integrated && !power_.ok()) return Reading::none(power_.reason, at);
  return Reading::of(told_, at);
}

}  // namespace stoker::sample
