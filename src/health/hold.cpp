#include "health/hold.h"

#include <algorithm>

namespace stoker::health {

Truth both(Truth one, Truth other) {
  if (one == Truth::no || other == Truth::no) return Truth::no;
  return one == Truth::unknown ? one : other;
}

void Hold::forget() {
  firing_ = false;
  since_.reset();
  held_ = cleared_ = Nanoseconds{0};
  readings_ = 0;
}

void Hold::holds(const Check& check, Nanoseconds gap, MonotonicTime reading_at, WallTime wall,
                 bool grace_is_over) {
  if (last_ == Truth::yes) held_ += gap;
  cleared_ = Nanoseconds{0};
  if (!since_) since_ = wall;
  if (readings_ == 0 || reading_at > last_reading_) {
    readings_ = std::min(readings_ + 1, check.consecutive);
    last_reading_ = reading_at;
  }
  firing_ =
      firing_ || (held_ >= check.holds_for && readings_ >= check.consecutive && grace_is_over);
}

void Hold::advance(const Check& check, Truth truth, MonotonicTime reading_at, MonotonicTime now,
                   WallTime wall, bool grace_is_over, bool reading_fails) {
  const Nanoseconds gap = evaluated_ ? std::max(now - *evaluated_, Nanoseconds{0}) : Nanoseconds{0};
  evaluated_ = now;
  switch (truth) {
    case Truth::yes: holds(check, gap, reading_at, wall, grace_is_over); break;
    case Truth::no:
      if (last_ == Truth::no) cleared_ += gap;
      if (!firing_ || cleared_ >= check.clear_for) forget();
      break;
    case Truth::unknown:
      if (last_ == Truth::unknown) unknown_ += gap;
      if (unknown_ >= kept_while_unknown && !(firing_ && reading_fails)) forget();
      break;
  }
  if (truth != Truth::unknown) unknown_ = Nanoseconds{0};
  last_ = truth;
}

}  // namespace stoker::health
