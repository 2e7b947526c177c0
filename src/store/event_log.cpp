#include "store/event_log.h"

#include <functional>
#include <utility>

namespace stoker::store {

EventLog::Identity EventLog::identity(const Event& event) {
  return {event.origin, std::hash<std::string>{}(event.text)};
}

void EventLog::add(std::vector<Event> events) {
  const MutexLock lock(mutex_);
  for (Event& event : events) {
    if (event.text.size() > longest_text) event.text.resize(longest_text);
    if (!known_.insert(identity(event)).second) continue;
    events_.push_back({++told_, std::move(event)});
    if (events_.size() > most_) {
      known_.erase(identity(events_.front().event));
      events_.pop_front();
    }
  }
}

void EventLog::on_source(const EventSource& source) {
  const MutexLock lock(mutex_);
  sources_[source.name] = source;
}

EventsKept EventLog::kept(std::uint64_t after) const {
  const MutexLock lock(mutex_);
  EventsKept kept;
  kept.told = told_;
  for (const auto& each : events_) {
    if (each.number > after) kept.events.push_back(each);
  }
  return kept;
}

std::vector<EventSource> EventLog::sources() const {
  const MutexLock lock(mutex_);
  std::vector<EventSource> all;
  all.reserve(sources_.size());
  for (const auto& [name, source] : sources_) all.push_back(source);
  return all;
}

}  // namespace stoker::store
