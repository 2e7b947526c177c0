// Composition: an end that waits for nobody for ever. A thread may be in a call that the kernel does not return (a disk, a
// card, a file of /proc), and who waits for it is killed by others, later and with less said.
#pragma once

#include <functional>
#include <thread>

#include "base/clock.h"

namespace stoker::app {

class EndInTime {
 public:
  // `too_late` is called where begin() was followed by no end of this object within `limit`.
  explicit EndInTime(std::function<void()> too_late = leave_the_process,
                     Nanoseconds limit = Seconds(10));

  void begin();

 private:
  // Says so in the log and ends the process with code 2. What is kept is written before or was never to be.
  static void leave_the_process();

  const std::function<void()> too_late_;
  const Nanoseconds limit_;
  std::jthread thread_;
};

}  // namespace stoker::app
