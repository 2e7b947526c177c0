#include "net/event_stream.h"

#include <fmt/format.h>

#include <utility>

namespace stoker::net {

std::string event_text(std::string_view name, std::string_view id, std::string_view data) {
  const std::string with_id = id.empty() ? std::string() : fmt::format("id: {}\n", id);
  return fmt::format("event: {}\n{}data: {}\n\n", name, with_id, data);
}

std::vector<ServerEvent> EventReader::read(std::string_view text) {
  std::vector<ServerEvent> events;
  while (!text.empty()) {
    const auto end = text.find('\n');
    line_ += text.substr(0, end);
    if (line_.size() > longest) {
      line_.clear();
      too_long_ = true;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (!std::exchange(too_long_, false)) take_line(line_, events);
    line_.clear();
  }
  return events;
}

void EventReader::take_line(std::string_view line, std::vector<ServerEvent>& events) {
  if (line.empty()) {
    // An event without data is none.
    ServerEvent whole = std::exchange(event_, {});
    if (!whole.data.empty()) events.push_back(std::move(whole));
    return;
  }
  const auto colon = line.find(':');
  const auto name = line.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") event_.name = value;
  if (name == "id") event_.id = value;
  if (name != "data" || event_.data.size() + value.size() > longest) return;
  if (!event_.data.empty()) event_.data += '\n';
  event_.data += value;
}

bool EventStream::write(std::string_view text) {
  const MutexLock lock(mutex_);
  if (state_ != State::open) return false;
  if (!waiting_.empty() && waiting_.size() + text.size() > most_waiting) {
    waiting_ = {};
    become(State::let_go);
    return false;
  }
  waiting_ += text;
  if (wake_) wake_();
  return true;
}

void EventStream::end() {
  const MutexLock lock(mutex_);
  if (state_ == State::open) become(State::ended);
}

EventStream::State EventStream::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

void EventStream::attach(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void EventStream::detach() {
  const MutexLock lock(mutex_);
  wake_ = nullptr;
  waiting_ = {};
  if (state_ != State::let_go) state_ = State::deserted;
}

std::string EventStream::take() {
  const MutexLock lock(mutex_);
  return std::exchange(waiting_, {});
}

void EventStream::become(State state) {
  state_ = state;
  if (wake_) wake_();
}

}  // namespace stoker::net
