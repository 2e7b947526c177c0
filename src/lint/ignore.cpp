#include "lint/ignore.h"

#include <algorithm>

#include "base/text.h"

namespace stoker::lint {
namespace {

constexpr std::string_view mark = "stoker-lint-ignore";

struct Ignored {
  int first = 1;
  int last = 1;
  std::string_view rules;
};

bool is_comment(std::string_view line) {
  line = trimmed(line, " \t\r");
  return line.empty() || line.front() == '#';
}

// Where the document around `lines[at]` begins and ends.
Ignored document_around(const std::vector<std::string_view>& lines, std::size_t at) {
  std::size_t first = at;
  std::size_t last = at;
  while (first > 0 && !lines[first].starts_with("---")) --first;
  while (last + 1 < lines.size() && !lines[last + 1].starts_with("---")) ++last;
  return {static_cast<int>(first) + 1, static_cast<int>(last) + 1, {}};
}

// What the comment of `lines[at]` says, if it says something.
bool read_line(const std::vector<std::string_view>& lines, std::size_t at, Ignored& ignored) {
  const auto line = lines[at];
  const auto found = line.find(mark);
  if (found == std::string_view::npos) return false;
  const auto hash = line.rfind('#', found);
  if (hash == std::string_view::npos) return false;
  if (!trimmed(line.substr(hash + 1, found - hash - 1)).empty()) return false;
  auto rest = line.substr(found + mark.size());
  const bool document = rest.starts_with("-document");
  if (document) rest.remove_prefix(std::string_view("-document").size());
  if (!rest.starts_with(':')) return false;
  if (document) {
    ignored = document_around(lines, at);
  } else {
    while (at + 1 < lines.size() && is_comment(lines[at])) ++at;
    ignored.first = ignored.last = static_cast<int>(at) + 1;
  }
  ignored.rules = trimmed(rest.substr(1), " \t\r");
  return true;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

bool lists_rule(std::string_view list, std::string_view rule) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto word = trimmed(list.substr(0, comma), " \t\r");
    if (word == rule || word == "all") return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::size_t take_out_ignored(std::string_view text, std::vector<Finding>& findings) {
  if (findings.empty() || text.find(mark) == std::string_view::npos) return 0;
  const auto lines = lines_of(text);
  std::vector<Ignored> ignored;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (Ignored one; read_line(lines, at, one)) ignored.push_back(one);
  }
  return std::erase_if(findings, [&](const Finding& finding) {
    return finding.location && std::ranges::any_of(ignored, [&](const Ignored& one) {
             return finding.location->line >= one.first && finding.location->line <= one.last &&
                    lists_rule(one.rules, finding.rule);
           });
  });
}

}  // namespace stoker::lint
