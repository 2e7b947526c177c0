// Any bytes as a scenario: what is read can be played too, if it is short.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "player.h"
#include "scenario.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoker;
  const auto scenario =
      scenario::read({reinterpret_cast<const char*>(data), size}, "fuzzed.scenario");
  if (!scenario) return 0;
  // A long time and a storm take long, and are no other code.
  for (const auto& step : scenario->steps) {
    const auto* line = std::get_if<scenario::Line>(&step.act);
    if (step.at > Seconds(60) || (line != nullptr && line->times > 10)) return 0;
  }
  (void)scenario::play(*scenario);
  return 0;
}
