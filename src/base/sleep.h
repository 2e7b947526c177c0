// Ground stage: how a thread of ours waits for its next turn.
#pragma once

#include <stop_token>

#include "base/clock.h"

namespace stoker {

// Sleeps for `time`, or until somebody asks to stop; false then.
bool sleep_unless_stopped(const std::stop_token& stop, Nanoseconds time);

}  // namespace stoker
