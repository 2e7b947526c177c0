#include "lint/kubernetes/quantity.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 16> suffixes = {{{"", 1.0},
                                                                           {"n", 1e-9},
                                                                           {"u", 1e-6},
                                                                           {"m", 1e-3},
                                                                           {"k", 1e3},
                                                                           {"M", 1e6},
                                                                           {"G", 1e9},
                                                                           {"T", 1e12},
                                                                           {"P", 1e15},
                                                                           {"E", 1e18},
                                                                           {"Ki", 0x1p10},
                                                                           {"Mi", 0x1p20},
                                                                           {"Gi", 0x1p30},
                                                                           {"Ti", 0x1p40},
                                                                           {"Pi", 0x1p50},
                                                                           {"Ei", 0x1p60}}};

}  // namespace

std::optional<double> quantity_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !(text[0] == '.' || text[0] == '-' || (text[0] >= '0' && text[0] <= '9')))
    return std::nullopt;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return std::nullopt;
  const auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [suffix, factor] : suffixes) {
    if (rest == suffix) return number * factor;
  }
  return std::nullopt;
}

}  // namespace stoker::lint::kubernetes
