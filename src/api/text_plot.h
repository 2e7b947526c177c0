// Edge: curves for a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stoker::api {

struct PlotStyle {
  std::size_t width = 80;   // columns, axis included
  std::size_t height = 12;  // rows of the curve
  bool unicode = true;      // eighths of blocks; else a ramp of ASCII characters
};

// One character a point, from `least` to `most`; a blank where there is none.
std::string spark_line(const std::vector<std::optional<double>>& points, double least, double most,
                       bool unicode);

// A bar a point with the values at the left, from zero or the least value: no title, no time axis.
std::string tall_plot(const std::vector<std::optional<double>>& points, const PlotStyle& style);

// Three significant digits and a suffix: "1.23k", "80.0M"; for axes.
std::string short_number(double value);

}  // namespace stoker::api
