// Device stage: keeps one GPU's first GPM calls apart from every other GPU's.
//
// The first call about a GPU writes a table in the library that nvmlGpmMetricsGet reads for all GPUs, and no lock guards
// it: two threads that began at once crashed inside nvmlGpmMetricsGet on two H200 with 580.159.04
// (docs/adr/0007-first-gpm-calls-alone.md). Calls after the first may run together.
#pragma once

#include "base/clock.h"
#include "base/thread_safety.h"

namespace stoker::nvml {

class GpmGate {
 public:
  // How long a call waits for others to return: one that hangs in the hardware has left the table behind it.
  static constexpr Nanoseconds default_patience = Seconds(2);

  explicit GpmGate(Nanoseconds patience = default_patience) : patience_(patience) {}

  // Held for the length of one call; waits in its constructor.
  class Pass {
   public:
    Pass(GpmGate& gate, bool alone) : gate_(gate), alone_(alone) { gate_.enter(alone_); }
    ~Pass() { gate_.leave(alone_); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    GpmGate& gate_;
    const bool alone_;
  };

 private:
  void enter(bool alone) EXCLUDES(mutex_);
  void leave(bool alone) EXCLUDES(mutex_);
  [[nodiscard]] bool is_free(bool alone) const REQUIRES(mutex_) {
    return alone_ == 0 && (!alone || together_ == 0);
  }

  const Nanoseconds patience_;
  Mutex mutex_;
  CondVar changed_;
  int alone_ GUARDED_BY(mutex_) = 0;     // more than one only where patience ended
  int together_ GUARDED_BY(mutex_) = 0;  // of calls that are not a GPU's first
};

}  // namespace stoker::nvml
