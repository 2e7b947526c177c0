#include "api/text_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stoker::api {
namespace {

constexpr std::array<const char*, 9> eighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> ascii = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
constexpr std::size_t label_width = 7;

struct Range {
  double least = 0;
  double most = 0;
};

Range range_of(const std::vector<std::optional<double>>& points) {
  std::optional<Range> range;
  for (const auto& point : points) {
    if (!point) continue;
    if (!range) range = Range{*point, *point};
    range->least = std::min(range->least, *point);
    range->most = std::max(range->most, *point);
  }
  return range.value_or(Range{});
}

// A value that hardly moves is drawn flat: less than a twentieth of it is no slope.
Range widened(Range range) {
  const double missing = std::abs(range.most) / 20 - (range.most - range.least);
  if (missing > 0) range = {range.least - missing / 2, range.most + missing / 2};
  return range;
}

// How many of `steps` steps a value fills; at least one, so that what is there is seen.
int filled(double value, const Range& range, int steps) {
  const double width = range.most - range.least;
  const double share = width > 0 ? std::clamp((value - range.least) / width, 0.0, 1.0) : 0.5;
  return std::max(1, static_cast<int>(std::lround(share * steps)));
}

}  // namespace

std::string short_number(double value) {
  constexpr std::array<const char*, 6> suffixes = {"", "k", "M", "G", "T", "P"};
  std::size_t power = 0;
  while (std::abs(value) >= 1000 && power + 1 < suffixes.size()) {
    value /= 1000;
    ++power;
  }
  const double size = std::abs(value);
  const int decimals = size >= 100 || value == std::floor(value) ? 0 : size >= 10 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, suffixes[power]);
}

std::string spark_line(const std::vector<std::optional<double>>& points, double least, double most,
                       bool unicode) {
  const auto& glyphs = unicode ? eighths : ascii;
  std::string line;
  for (const auto& point : points) {
    line += glyphs.at(point ? static_cast<std::size_t>(filled(*point, {least, most}, 8))
                            : std::size_t{0});
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string tall_plot(const std::vector<std::optional<double>>& points, const PlotStyle& style) {
  const auto& glyphs = style.unicode ? eighths : ascii;
  const char* axis = style.unicode ? "┤" : "|";
  Range range = range_of(points);
  // A curve near zero begins at zero: a small wobble must not look like a fall.
  if (range.least > 0 && range.least < range.most / 2) range.least = 0;
  range = widened(range);
  const auto rows = static_cast<int>(style.height);
  std::string text;
  for (int row = rows - 1; row >= 0; --row) {
    const bool labelled = row == rows - 1 || row == 0 || row == rows / 2;
    const double value = range.least + (range.most - range.least) * row / std::max(1, rows - 1);
    text += fmt::format("{:>{}} {}", labelled ? short_number(value) : "", label_width, axis);
    for (const auto& point : points) {
      const int fill = point ? std::clamp(filled(*point, range, 8 * rows) - 8 * row, 0, 8) : 0;
      text += glyphs.at(static_cast<std::size_t>(fill));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace stoker::api
