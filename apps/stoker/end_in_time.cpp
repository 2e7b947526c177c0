#include "end_in_time.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "base/sleep.h"
#include "verbs.h"

namespace stoker::app {

EndInTime::EndInTime(std::function<void()> too_late, Nanoseconds limit)
    : too_late_(std::move(too_late)), limit_(limit) {}

void EndInTime::begin() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    if (sleep_unless_stopped(stop, limit_)) too_late_();
  });
}

void EndInTime::leave_the_process() {
  log::error("end_hangs",
             {{"reason",
               "a thread is in a call that does not return (a disk, a device or a file "
               "of /proc); the process leaves without it"}});
  ::_exit(exit_could_not);
}

}  // namespace stoker::app
