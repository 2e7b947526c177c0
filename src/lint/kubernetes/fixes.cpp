#include "lint/kubernetes/fixes.h"

#include <algorithm>

namespace stoker::lint::kubernetes {
namespace {

std::string_view line_at(std::string_view text, int number) {
  for (int line = 1; line < number && !text.empty(); ++line) {
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  }
  auto found = text.substr(0, text.find('\n'));
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

// Does nothing but blanks stand before `column`? Then the key there is in block style.
bool begins_line(std::string_view line, int column) {
  return line.substr(0, static_cast<std::size_t>(column - 1)).find_first_not_of(' ') ==
         std::string_view::npos;
}

bool is_ascii(std::string_view line) {
  return std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_left(const Manifest& manifest, const Repair& repair) {
  return std::ranges::any_of(manifest.findings, [&](const Finding& finding) {
    return finding.rule == repair.rule && finding.location->line == repair.found.line &&
           finding.location->column == repair.found.column;
  });
}

}  // namespace

std::vector<LineEdit> repairs_of(std::string_view text, const Manifest& manifest) {
  std::vector<LineEdit> edits;
  for (const Repair& repair : manifest.repairs) {
    if (!is_left(manifest, repair)) continue;
    const auto line = line_at(text, repair.at.line);
    const auto column = static_cast<std::size_t>(repair.at.column);
    if (column < 1 || column > line.size() + 1 || !is_ascii(line)) continue;
    if (begins_line(line, repair.at.column)) {
      const std::string indent(column - 1, ' ');
      for (const auto& added : repair.lines) {
        edits.push_back({repair.at.line, LineEdit::Kind::insert_before, indent + added});
      }
    } else if (!repair.inside.empty()) {
      // In flow style: the entry before the key at that place.
      const bool twice = std::ranges::any_of(
          edits, [&](const LineEdit& edit) { return edit.line == repair.at.line; });
      if (twice) continue;
      std::string changed(line);
      changed.insert(column - 1, repair.inside);
      edits.push_back({repair.at.line, LineEdit::Kind::replace, std::move(changed)});
    }
  }
  return edits;
}

}  // namespace stoker::lint::kubernetes
