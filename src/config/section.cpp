#include "config/section.h"

#include <algorithm>

namespace stoker::config {
namespace {

// The line that starts at `at`, with its line break.
std::string_view line_at(std::string_view file, std::size_t at) {
  const auto end = file.find('\n', at);
  return file.substr(at, end == std::string_view::npos ? end : end + 1 - at);
}

bool begins_section(std::string_view line, std::string_view name) {
  return line.starts_with(name) && line.substr(name.size()).starts_with(':');
}

// Indented lines belong to the section above them; so do empty ones between them.
bool belongs(std::string_view line) {
  return line.empty() || line.front() == ' ' || line.front() == '\n' || line.front() == '\r';
}

}  // namespace

std::string replace_section(std::string_view file, std::string_view name,
                            std::string_view section) {
  std::string out;
  bool replaced = false;
  std::size_t at = 0;
  while (at < file.size()) {
    const std::string_view line = line_at(file, at);
    at += line.size();
    if (!begins_section(line, name)) {
      out += line;
      continue;
    }
    // The empty lines behind the section stay, as what sets the next one off.
    std::size_t end = at;
    while (at < file.size() && belongs(line_at(file, at))) {
      const std::string_view inside = line_at(file, at);
      at += inside.size();
      if (inside.find_first_not_of(" \r\n") != std::string_view::npos) end = at;
    }
    at = end;
    out += section;
    replaced = true;
  }
  if (replaced) return out;
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out + std::string(section);
}

}  // namespace stoker::config
