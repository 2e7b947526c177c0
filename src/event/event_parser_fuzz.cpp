// Any bytes as records of the kernel, of a service and of nobody: read or refused, and memory stays bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "event/event_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using stoker::event::EventParser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<stoker::Event> events;
  for (const std::string_view program : {"kernel", "", "systemd", "nv-fabricmanager"}) {
    EventParser parser;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      parser.read({.text = line, .program = program, .kernel = program == "kernel"}, events);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    parser.read({.text = text, .program = program, .kernel = true}, events);
  }
  for (const auto& event : events) {
    if (event.text.empty() || (event.code && *event.code == 0)) std::abort();
    if (event.kind == stoker::EventKind::xid && event.ci && !event.gi) std::abort();
  }
  return 0;
}
