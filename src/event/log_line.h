// Event stage: one line of a log of any of the formats of docs/specs/events.md, told apart into what the log put in
// front and what was said.
#pragma once

#include <string>
#include <string_view>

#include "event/log_time.h"

namespace stoker::event {

struct LogLine {
  std::string_view
      text;             // what was said; lives as long as what was read, and until the next read()
  std::string program;  // who said it, where the log tells
  bool kernel = false;  // something in front says that it was the kernel
  LogTime time;
  std::string boot;  // boot id
};

class LogLineReader {
 public:
  // `raw` is one line, or one whole entry of `journalctl -o export`.
  LogLine read(std::string_view raw);

 private:
  std::string plain_;    // the line without colours
  std::string message_;  // what a format with escapes held, unescaped
};

// Does this log consist of entries of `journalctl -o export`, with an empty line between them?
bool is_export(std::string_view beginning);

}  // namespace stoker::event
