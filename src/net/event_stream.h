// Edge: a response that goes on for as long as its peer stays: server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Who has something to say writes here and is never
// kept waiting; the connection takes from here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_safety.h"

namespace stoker::net {

// "event: NAME", "id: ID" where there is one, "data: DATA", and the empty line that ends it. No line ends within.
std::string event_text(std::string_view name, std::string_view id, std::string_view data);

struct ServerEvent {
  std::string name, id, data;
};

// The other end: text in pieces of any size in, events out. Comments are left out.
class EventReader {
 public:
  // A line that is longer is left out, and so is what an event has beyond this.
  static constexpr std::size_t longest = 4 << 20;

  std::vector<ServerEvent> read(std::string_view text);

 private:
  void take_line(std::string_view line, std::vector<ServerEvent>& events);

  std::string line_;
  bool too_long_ = false;
  ServerEvent event_;
};

// Safe from any thread.
class EventStream {
 public:
  // More than this that the peer has not taken, and it is let go; one text may be longer.
  static constexpr std::size_t most_waiting = 1 << 20;

  enum class State : std::uint8_t {
    open,
    ended,    // what waits is still sent
    let_go,   // the peer was too slow
    deserted  // the peer has gone
  };

  // Never waits. False: nobody will read it.
  bool write(std::string_view text) EXCLUDES(mutex_);
  // Nothing more will be written.
  void end() EXCLUDES(mutex_);
  [[nodiscard]] State state() const EXCLUDES(mutex_);

  // For the connection alone.
  // `wake` is called, in any thread, when there is something to take or the state has changed; it must not call back.
  void attach(std::function<void()> wake) EXCLUDES(mutex_);
  void detach() EXCLUDES(mutex_);
  std::string take() EXCLUDES(mutex_);

 private:
  void become(State state) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::string waiting_ GUARDED_BY(mutex_);
  State state_ GUARDED_BY(mutex_) = State::open;
  std::function<void()> wake_ GUARDED_BY(mutex_);
};

}  // namespace stoker::net
