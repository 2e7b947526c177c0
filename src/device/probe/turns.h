// Device stage, probe side: which GPU is read next, and by which thread. There are as many threads as GPUs. One of them
// reads the GPUs that are due, one after the other, while the rest sleep: to wake each GPU's own thread once a second
// was a third of what watching a node cost. When a call takes long, hurry() has another thread go on with the others, so
// that a GPU waits for another one no longer than until then. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "device/probe/child.h"

namespace stoker::device::probe {

// One GPU that is open, with what its rounds need; of the thread that has the turn.
struct Seat {
  Gpu& gpu;
  Sampler& sampler;
  Round round;
};

class Turns {
 public:
  explicit Turns(const Clock& clock) : clock_(clock) {}

  // A GPU whose next round begins at seat->round.next.
  void add(std::unique_ptr<Seat> seat) EXCLUDES(mutex_);
  // Waits until a GPU is due that no other thread has, and gives it. nullptr: stop() was called.
  Seat* take() EXCLUDES(mutex_);
  // It is due again at seat->round.next.
  void give_back(Seat& seat) EXCLUDES(mutex_);
  // Is a GPU due, and nobody free to read it but a thread that sleeps? Then that one is woken.
  bool hurry() EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);

 private:
  struct Entry {
    std::unique_ptr<Seat> seat;
    bool taken = false;
  };
  // The one that is due first of those that nobody has; nullptr: there is none.
  Entry* first() REQUIRES(mutex_);

  const Clock& clock_;

  Mutex mutex_;
  CondVar lead_;    // waits for what is due first
  CondVar others_;  // wait until somebody is needed
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  bool leads_ GUARDED_BY(mutex_) = false;
  std::size_t resting_ GUARDED_BY(mutex_) = 0;  // in others_
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace stoker::device::probe
