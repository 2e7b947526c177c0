// Reads exposition text back, for tests that look at single series.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::exporting {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The series of one metric, without comments.
inline std::vector<std::string> series_of(const std::string& text, std::string_view metric) {
  std::vector<std::string> found;
  for (std::string& line : lines_of(text)) {
    const bool ours = line.starts_with(metric) && line.size() > metric.size() &&
                      (line[metric.size()] == '{' || line[metric.size()] == ' ');
    if (ours) found.push_back(std::move(line));
  }
  return found;
}

}  // namespace stoker::exporting
