#include "lint/kubernetes/template_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

// Actions that write nothing: https://helm.sh/docs/chart_template_guide/control_structures/
constexpr std::array<std::string_view, 9> control_words = {
    "if", "else", "end", "range", "with", "define", "block", "break", "continue"};

std::string_view first_word(std::string_view action) {
  const auto inside = trimmed(action, "{}- \t\r\n");
  return inside.substr(0, inside.find_first_of(" \t("));
}

// How many conditions an action opens (1), closes (-1) or leaves as they are.
int opened_by(std::string_view action) {
  const auto word = first_word(action);
  if (word == "end") return -1;
  return word == "if" || word == "with" || word == "range" || word == "define" || word == "block"
             ? 1
             : 0;
}

bool writes_nothing(std::string_view action) {
  const auto inside = trimmed(action, "{}- \t\r\n");
  if (inside.starts_with("/*")) return true;
  const auto word = first_word(action);
  // "$x := y" and "$x = y" only remember.
  const auto rest = trimmed(inside.substr(word.size()));
  if (word.starts_with('$')) return rest.starts_with(":=") || rest.starts_with("= ");
  return std::ranges::find(control_words, word) != control_words.end();
}

// The bounds of the line, or lines, on which [begin, end) stands.
std::string_view lines_around(std::string_view text, std::size_t begin, std::size_t end) {
  const auto before = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(first, std::min(text.find('\n', end), text.size()) - first);
}

// Does nothing but actions stand on `lines`?
bool only_actions(std::string_view lines) {
  for (auto open = lines.find("{{"); open != std::string_view::npos; open = lines.find("{{")) {
    if (!trimmed(lines.substr(0, open), " \t\r").empty()) return false;
    const auto close = lines.find("}}", open);
    if (close == std::string_view::npos) return true;
    lines.remove_prefix(close + 2);
  }
  return trimmed(lines, " \t\r").empty();
}

}  // namespace

TemplateText without_actions(std::string_view text) {
  TemplateText out;
  if (text.find("{{") == std::string_view::npos) return out;
  out.text = text;
  int line = 1;
  std::size_t counted = 0;
  int depth = 0;
  for (auto open = text.find("{{"); open != std::string_view::npos; open = text.find("{{", open)) {
    const auto close = text.find("}}", open);
    if (close == std::string_view::npos) break;
    const std::size_t end = close + 2;
    out.templated = true;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
    counted = open;
    const bool alone = only_actions(lines_around(text, open, end));
    const bool silent = writes_nothing(text.substr(open, end - open));
    if (alone && !silent) out.holes.push_back(line);
    if (const int change = opened_by(text.substr(open, end - open)); change != 0) {
      depth = std::max(depth + change, 0);
      out.depths.emplace_back(line, depth);
    }
    for (std::size_t at = open; at < end; ++at) {
      if (text[at] != '\n') out.text[at] = alone || silent ? ' ' : '$';
    }
    open = end;
  }
  return out;
}

int TemplateText::depth_at(int line) const {
  int depth = 0;
  for (const auto& [from, now] : depths) {
    if (from > line) break;
    depth = now;
  }
  return depth;
}

bool is_filled_in_later(std::string_view value) {
  for (std::size_t at = value.find('$'); at != std::string_view::npos;
       at = value.find('$', at + 1)) {
    if (at + 1 >= value.size() || value[at + 1] != '(') return true;
  }
  return false;
}

bool is_placeholder(std::string_view value) {
  value = trimmed(value);
  if (value.empty()) return false;
  const auto open = value.find('<');
  if (open != std::string_view::npos && value.find('>', open) != std::string_view::npos)
    return true;
  std::string lower(value);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 12> notes = {
      "your-",     "your_",       "yourtoken", "replace", "changeme", "change-me",
      "change_me", "placeholder", "xxxx",      "todo",    "fill in",  "filled by"};
  return std::ranges::any_of(
      notes, [&](std::string_view note) { return lower.find(note) != std::string::npos; });
}

}  // namespace stoker::lint::kubernetes
