// Cluster stage: from counts of a process's work to how busy it is. Pure.
#pragma once

#include <deque>

#include "base/clock.h"
#include "base/result.h"
#include "model/attribution.h"
#include "os/process_work.h"

namespace stoker::cluster {

class HostWorkWatch {
 public:
  // Is it time to count again?
  [[nodiscard]] bool is_due(MonotonicTime now) const;
  // What was counted at `now`, or why it could not be.
  void take(const Result<os::ProcessWork>& counted, MonotonicTime now);
  // What was counted before says nothing about what comes.
  void forget();

  [[nodiscard]] HostWork told() const;

 private:
  struct Count {
    MonotonicTime at;
    os::ProcessWork work;
  };
  std::deque<Count> counts_;  // the newest last
  MonotonicTime asked_at_;
  Reason reason_ = Reason::pending;
};

}  // namespace stoker::cluster
