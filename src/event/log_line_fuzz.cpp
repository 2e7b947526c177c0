// Any bytes as a line of a log: what is said is never longer than what was read, and reading ends.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "event/log_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stoker::event::LogLineReader reader;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = reader.read(text);
  // An escape of six bytes, "\u0800", becomes three.
  if (whole.text.size() > text.size() || (whole.kernel && whole.program != "kernel")) std::abort();
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto read = reader.read(line);
    if (read.text.size() > line.size() || (!read.time.wall && read.time.reason.empty()))
      std::abort();
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  }
  return 0;
}
