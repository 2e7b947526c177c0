// Store stage: the last events, whoever told them, in the order in which they were told; and how their sources
// are doing. Bounded: the oldest make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_safety.h"
#include "model/event.h"
#include "model/event_source.h"

namespace stoker::store {

// An event with its number: 1 for the first since the agent started, and never used again.
struct NumberedEvent {
  std::uint64_t number = 0;
  Event event;
};

struct EventsKept {
  std::vector<NumberedEvent> events;  // oldest first
  std::uint64_t told = 0;             // since the agent started, with those that made room
};

// Safe from any thread.
class EventLog {
 public:
  // Of a text; the rest of a longer one is cut off. The kernel's lines have at most 1 KiB
  // (Documentation/ABI/testing/dev-kmsg).
  static constexpr std::size_t longest_text = 1024;

  explicit EventLog(std::size_t most = 512) : most_(most) {}

  // Those that are there already, by origin and text, are left out: a source may be read twice, while one record
  // may hold several events.
  void add(std::vector<Event> events) EXCLUDES(mutex_);
  void on_source(const EventSource& source) EXCLUDES(mutex_);

  // Of those that are kept, the ones behind number `after`.
  [[nodiscard]] EventsKept kept(std::uint64_t after = 0) const EXCLUDES(mutex_);
  [[nodiscard]] std::vector<EventSource> sources() const EXCLUDES(mutex_);

 private:
  using Identity = std::pair<EventOrigin, std::size_t>;  // and the hash of the text
  static Identity identity(const Event& event);

  const std::size_t most_;

  mutable Mutex mutex_;
  std::deque<NumberedEvent> events_ GUARDED_BY(mutex_);
  std::set<Identity> known_ GUARDED_BY(mutex_);  // of events_
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, EventSource> sources_ GUARDED_BY(mutex_);
};

}  // namespace stoker::store
