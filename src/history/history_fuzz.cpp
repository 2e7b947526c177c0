// A history file that somebody made up is refused or read, and then answers.
#include <cstdint>

#include "history/history.h"

using stoker::Field;
using stoker::FieldId;
using stoker::ManualClock;
using stoker::Seconds;
namespace history = stoker::history;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ManualClock clock;
  history::History history(clock, {.fields = history::default_fields(),
                                   .node_fields = history::default_node_fields(),
                                   .period_of = [](const Field&) { return Seconds(1); },
                                   .memory_bytes = std::size_t{1} << 20});
  if (!history.read_from({reinterpret_cast<const char*>(data), size})) return 0;
  if (history.facts().bytes > (std::size_t{1} << 20)) __builtin_trap();
  for (const FieldId field : history::default_fields()) {
    (void)history.ask(field, std::chrono::hours(24), history::Step::minutes);
    (void)history.ask(field, std::chrono::hours(1), history::Step::readings);
  }
  return 0;
}
