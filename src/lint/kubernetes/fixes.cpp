#include "lint/kubernetes/fixes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace stoker::lint::kubernetes {
namespace {

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

// Does nothing but blanks stand before `column`? Then the key there is in block style.
bool begins_line(std::string_view line, int column) {
  return line.substr(0, static_cast<std::size_t>(column - 1)).find_first_not_of(' ') ==
         std::string_view::npos;
}

bool is_ascii(std::string_view line) {
  return std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

using FoundAt = std::tuple<std::string_view, int, int>;

std::set<FoundAt> all_found(const Manifest& manifest) {
  std::set<FoundAt> found;
  for (const Finding& finding : manifest.findings) {
    found.emplace(finding.rule, finding.location->line, finding.location->column);
  }
  return found;
}

}  // namespace

std::vector<LineEdit> repairs_of(std::string_view text, const Manifest& manifest) {
  std::vector<LineEdit> edits;
  const auto found = all_found(manifest);
  const auto lines = text_lines(text);
  for (const Repair& repair : manifest.repairs) {
    if (!found.contains({repair.rule, repair.found.line, repair.found.column})) continue;
    if (repair.at.line < 1 || static_cast<std::size_t>(repair.at.line) > lines.size()) continue;
    const auto line = lines[static_cast<std::size_t>(repair.at.line) - 1];
    const auto column = static_cast<std::size_t>(repair.at.column);
    if (column < 1 || column > line.size() + 1 || !is_ascii(line)) continue;
    if (begins_line(line, repair.at.column)) {
      const std::string indent(column - 1, ' ');
      for (const auto& added : repair.lines) {
        edits.push_back({repair.at.line, LineEdit::Kind::insert_before, indent + added});
      }
    } else if (!repair.inside.empty()) {
      // In flow style: the entry before the key at that place.
      if (!edits.empty() && edits.back().line == repair.at.line) continue;
      std::string changed(line);
      changed.insert(column - 1, repair.inside);
      edits.push_back({repair.at.line, LineEdit::Kind::replace, std::move(changed)});
    }
  }
  return edits;
}

}  // namespace stoker::lint::kubernetes
