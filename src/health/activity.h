// Health stage: what one card does just now, by what it reads: nothing, work, or a kernel that only waits. Pure.
// docs/specs/hangs.md has the measurements that the limits rest on.
#pragma once

#include <cstdint>
#include <string>

#include "store/snapshot.h"

namespace stoker::health {

enum class Activity : std::uint8_t {
  unknown,
  rests,  // no kernel is resident
  spins,  // a kernel is resident all the time and moves nothing: it waits for somebody, by all that can be seen
  works,
};

const char* to_string(Activity activity);

struct CardActivity {
  Activity what = Activity::unknown;
  bool proven = false;  // spins: what its units do was read (GPM), and they do nothing
  MonotonicTime at;     // of the newest reading that it rests on
};
CardActivity activity_of(const store::GpuSnapshot& gpu);

// "utilization 100 %, sm_active 18 %, tensor_active 0 %, ..., power 120 W of 700 W": what is known of it.
std::string activity_text(const store::GpuSnapshot& gpu);

}  // namespace stoker::health
