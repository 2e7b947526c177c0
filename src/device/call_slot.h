// Device stage, probe side: what one thread is doing in the driver, readable by the thread that
// sends heartbeats at any moment and without a lock, since a thread stuck in the driver gives none.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "catalog/field.h"

namespace stoker::device {

// Written by one thread, read by another. A call is one atomic word: the getter in the top byte,
// the start of the call in 128 ns steps below it (56 bits: 292 years since boot).
class CallSlot {
 public:
  struct Call {
    Getter getter;
    MonotonicTime since;
  };

  void enter(Getter getter, MonotonicTime now) {
    const auto steps = static_cast<std::uint64_t>(now.since_boot.count()) >> step_bits;
    word_.store(static_cast<std::uint64_t>(getter) << time_bits | (steps & time_mask) | in_call,
                std::memory_order_release);
  }
  // The next call of the same getter begins. Only between enter() and leave().
  void next(MonotonicTime now) {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if (word != 0) enter(static_cast<Getter>(word >> time_bits), now);
  }
  void leave() { word_.store(0, std::memory_order_release); }

  [[nodiscard]] std::optional<Call> now() const {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    if (word == 0) return std::nullopt;
    const auto steps = word & time_mask & ~in_call;
    return Call{static_cast<Getter>(word >> time_bits),
                {Nanoseconds(static_cast<std::int64_t>(steps << step_bits))}};
  }

 private:
  static constexpr int step_bits = 7;
  static constexpr int time_bits = 56;
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;
  static constexpr std::uint64_t in_call = 1;  // so that a call is never the word 0

  std::atomic<std::uint64_t> word_{0};
};

// This thread is in the driver from construction to destruction, in one call or in several, one after
// the other: each that is announced by next_call() has a time of its own, since it is one call that
// may not return, and ten that take a second each are none that hangs.
class InCall {
 public:
  InCall(CallSlot& slot, Getter getter, MonotonicTime now)
      : slot_(slot), outer_(std::exchange(current, &slot)) {
    slot_.enter(getter, now);
  }
  ~InCall() {
    slot_.leave();
    current = outer_;
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

  // By whoever makes driver calls, right before each; without an InCall in this thread: nothing.
  static void next_call(MonotonicTime now) {
    if (current != nullptr) current->next(now);
  }

 private:
  static inline thread_local CallSlot* current = nullptr;

  CallSlot& slot_;
  CallSlot* const outer_;
};

}  // namespace stoker::device
