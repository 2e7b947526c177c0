#include "device/probe/turns.h"

#include <utility>

namespace stoker::device::probe {

Turns::Entry* Turns::first() {
  Entry* first = nullptr;
  for (Entry& entry : entries_) {
    if (entry.taken) continue;
    if (first == nullptr || entry.seat->round.next < first->seat->round.next) first = &entry;
  }
  return first;
}

void Turns::add(std::unique_ptr<Seat> seat) {
  const MutexLock lock(mutex_);
  entries_.push_back({.seat = std::move(seat)});
  if (leads_) lead_.notify_one();  // it may be due before what is waited for
}

Seat* Turns::take() {
  const MutexLock lock(mutex_);
  while (!stopped_) {
    Entry* next = first();
    if (leads_ || next == nullptr) {
      ++resting_;
      others_.wait(mutex_);
      --resting_;
      continue;
    }
    const MonotonicTime due = next->seat->round.next;
    if (due <= clock_.monotonic()) {
      next->taken = true;
      return next->seat.get();
    }
    leads_ = true;
    lead_.wait_until(mutex_, std::chrono::steady_clock::time_point(due.since_boot));
    leads_ = false;
  }
  return nullptr;
}

void Turns::give_back(Seat& seat) {
  const MutexLock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.seat.get() == &seat) entry.taken = false;
  }
  if (leads_) lead_.notify_one();
}

bool Turns::hurry() {
  const MutexLock lock(mutex_);
  Entry* next = first();
  if (leads_ || resting_ == 0 || next == nullptr) return false;
  if (next->seat->round.next > clock_.monotonic()) return false;
  others_.notify_one();
  return true;
}

void Turns::stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  lead_.notify_all();
  others_.notify_all();
}

}  // namespace stoker::device::probe
