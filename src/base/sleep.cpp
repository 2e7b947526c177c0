#include "base/sleep.h"

#include <condition_variable>
#include <mutex>

namespace stoker {

bool sleep_unless_stopped(const std::stop_token& stop, Nanoseconds time) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace stoker
