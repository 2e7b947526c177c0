#include "lint/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stoker::lint {
namespace {

constexpr int context_lines = 3;

struct PatchLine {
  char sign = ' ';  // as a unified diff has it
  std::string text;
};

std::vector<std::string_view> lines_with_breaks(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// A line of the edit, with the line break of the line beside it.
std::string broken_like(const std::string& text, std::string_view neighbour) {
  return text + (neighbour.ends_with("\r\n") ? "\r\n" : "\n");
}

std::vector<PatchLine> all_lines(std::string_view text, const std::vector<LineEdit>& edits) {
  std::vector<PatchLine> out;
  std::multimap<int, const LineEdit*> by_line;
  for (const LineEdit& edit : edits) by_line.emplace(edit.line, &edit);
  const auto lines = lines_with_breaks(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LineEdit* replacing = nullptr;
    const auto [first, last] = by_line.equal_range(static_cast<int>(i) + 1);
    for (auto at = first; at != last; ++at) {
      if (at->second->kind == LineEdit::Kind::replace) {
        replacing = at->second;
      } else {
        out.push_back({'+', broken_like(at->second->text, lines[i])});
      }
    }
    out.push_back({replacing == nullptr ? ' ' : '-', std::string(lines[i])});
    if (replacing != nullptr) out.push_back({'+', broken_like(replacing->text, lines[i])});
  }
  return out;
}

// Where the hunk that holds the change at `at` ends: three lines behind its last change.
std::size_t hunk_end(const std::vector<PatchLine>& lines, std::size_t at) {
  std::size_t last = at;
  for (std::size_t i = at; i < lines.size() && i <= last + 2 * context_lines + 1; ++i) {
    if (lines[i].sign != ' ') last = i;
  }
  return std::min(last + context_lines + 1, lines.size());
}

std::string hunk(const std::vector<PatchLine>& lines, std::size_t begin, std::size_t end,
                 int old_line, int new_line) {
  std::string body;
  int old_count = 0;
  int new_count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    old_count += lines[i].sign != '+' ? 1 : 0;
    new_count += lines[i].sign != '-' ? 1 : 0;
    body += lines[i].sign + lines[i].text;
    if (!lines[i].text.ends_with('\n')) body += "\n\\ No newline at end of file\n";
  }
  return fmt::format("@@ -{},{} +{},{} @@\n{}", old_line, old_count, new_line, new_count, body);
}

}  // namespace

std::string with_edits(std::string_view text, const std::vector<LineEdit>& edits) {
  std::string out;
  for (const auto& line : all_lines(text, edits)) {
    if (line.sign != '-') out += line.text;
  }
  return out;
}

std::string unified_patch(std::string_view text, const std::vector<LineEdit>& edits,
                          std::string_view file) {
  if (edits.empty()) return {};
  const auto lines = all_lines(text, edits);
  std::string out = fmt::format("--- a/{}\n+++ b/{}\n", file, file);
  int old_line = 1;
  int new_line = 1;
  std::size_t done = 0;
  const auto advance = [&](std::size_t to) {
    for (; done < to; ++done) {
      old_line += lines[done].sign != '+' ? 1 : 0;
      new_line += lines[done].sign != '-' ? 1 : 0;
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].sign == ' ') continue;
    const std::size_t begin = std::max(done, i < context_lines ? 0 : i - context_lines);
    const std::size_t end = hunk_end(lines, i);
    advance(begin);
    out += hunk(lines, begin, end, old_line, new_line);
    advance(end);
    i = end - 1;
  }
  return out;
}

}  // namespace stoker::lint
