// Event stage: a whole log, piece by piece, as the events that are in it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "event/event_parser.h"
#include "event/log_line.h"

namespace stoker::event {

struct FoundEvent {
  Event event;  // its origin is the log's name and the byte at which its line begins
  std::uint64_t line = 0;
  LogTime time;
};

// Memory is bounded, whatever the log holds: a line of more than a megabyte is read as several.
class LogScan {
 public:
  using Take = std::function<void(FoundEvent&&)>;
  // `name` is the log's, for the origin of its events.
  LogScan(std::string name, Take take);

  // The next piece of the log, of any size.
  void add(std::string_view bytes);
  // The log is over: what stands behind the last line break is a line.
  void finish();

 private:
  void read_all(std::string_view text);
  void read_unit(std::string_view unit, std::uint64_t offset, std::uint64_t line);
  [[nodiscard]] std::string_view separator() const;

  const std::string name_;
  const Take take_;
  LogLineReader lines_;
  EventParser parser_;
  std::string held_;          // what has no end yet
  std::uint64_t offset_ = 0;  // of held_'s first byte
  std::uint64_t line_ = 1;    // its number
  bool export_ = false;
  bool begun_ = false;
  std::vector<Event> events_;
};

}  // namespace stoker::event
