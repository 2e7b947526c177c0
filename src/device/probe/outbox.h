// Device stage, probe side: messages on their way to the agent. They gather here and go together, since
// waking the agent costs more than what a message says. An agent that does not read never blocks a
// thread of the probe: beyond a bound the oldest readings are dropped and counted, since newer ones
// replace them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

#include "base/thread_safety.h"

namespace stoker::device::probe {

class Outbox {
 public:
  // `fd` is a connected SOCK_SEQPACKET socket, which stays the caller's.
  explicit Outbox(int fd) : fd_(fd) {}

  // `soon` goes with the next flush(); `now` goes at once, behind what waits, and is dropped last.
  enum class Urgency { now, soon };
  // Never blocks. From any thread.
  void send(std::string message, Urgency urgency) EXCLUDES(mutex_);
  // Sends what waits, as far as the socket takes it. From any thread.
  void flush() EXCLUDES(mutex_);
  [[nodiscard]] bool waiting() const EXCLUDES(mutex_);
  // Messages given up since the start.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  static constexpr std::size_t capacity = 256;

 private:
  struct Entry {
    std::string bytes;
    Urgency urgency;
  };
  void make_room() REQUIRES(mutex_);
  void send_waiting() REQUIRES(mutex_);

  const int fd_;
  std::atomic<std::uint64_t> dropped_{0};

  mutable Mutex mutex_;
  std::deque<Entry> queue_ GUARDED_BY(mutex_);
};

}  // namespace stoker::device::probe
