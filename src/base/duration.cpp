#include "base/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace stoker {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t nanoseconds;
};
// From large to small; "ms" stands before "m" and "s" for the reader below.
constexpr std::array<Suffix, 7> suffixes = {{{"d", 86'400'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"ms", 1'000'000},
                                             {"us", 1'000},
                                             {"ns", 1},
                                             {"m", 60'000'000'000},
                                             {"s", 1'000'000'000}}};
constexpr double longest = 9e18;  // nanoseconds that an int64 holds: 285 years

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
  for (const auto& suffix : suffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const std::string_view digits = text.substr(0, text.size() - suffix.text.size());
    double number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                             std::chars_format::fixed);
    const double total = std::round(number * static_cast<double>(suffix.nanoseconds));
    if (code != std::errc{} || end != digits.data() + digits.size() || digits.empty() ||
        !(total >= 0) || total > longest) {
      break;
    }
    return Nanoseconds(static_cast<std::int64_t>(total));
  }
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is not a duration", text));
}

std::string duration_text(Nanoseconds duration) {
  constexpr std::array<Suffix, 7> from_large = {{{"d", 86'400'000'000'000},
                                                 {"h", 3'600'000'000'000},
                                                 {"m", 60'000'000'000},
                                                 {"s", 1'000'000'000},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};
  if (duration.count() == 0) return "0s";
  for (const auto& suffix : from_large) {
    if (duration.count() % suffix.nanoseconds == 0) {
      return fmt::format("{}{}", duration.count() / suffix.nanoseconds, suffix.text);
    }
  }
  return fmt::format("{}ns", duration.count());
}

}  // namespace stoker
