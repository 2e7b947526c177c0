// Sample stage: how long what a look told holds.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace stoker::sample {

// A look that hangs, or a busy machine: three times late is too late, within half a minute it is not.
constexpr Nanoseconds good_for(Nanoseconds period) {
  return std::max<Nanoseconds>(3 * period, Seconds(30));
}

}  // namespace stoker::sample
