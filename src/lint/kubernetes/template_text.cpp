#include "lint/kubernetes/template_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

// Actions that write nothing: https://helm.sh/docs/chart_template_guide/control_structures/
constexpr std::array<std::string_view, 9> control_words = {
    "if", "else", "end", "range", "with", "define", "block", "break", "continue"};

std::string_view first_word(std::string_view action) {
  const auto inside = trimmed(action, "{}%- \t\r\n");
  return inside.substr(0, inside.find_first_of(" \t("));
}

// How many conditions an action opens (1), closes (-1) or leaves as they are.
int opened_by(std::string_view action) {
  const auto word = first_word(action);
  if (word.starts_with("end")) return -1;
  return word == "if" || word == "with" || word == "range" || word == "define" || word == "block" ||
                 word == "for"
             ? 1
             : 0;
}

bool writes_nothing(std::string_view action) {
  if (action.starts_with("{%")) return first_word(action) != "include";
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

// Where the next action begins, from `at` on: {{ of Helm and Jinja, or {% of Jinja where its end follows.
std::size_t next_action(std::string_view text, std::size_t at = 0) {
  const auto braces = text.find("{{", at);
  const auto percent = text.find("{%", at);
  if (percent > braces || percent == std::string_view::npos) return braces;
  return text.find("%}", percent) == std::string_view::npos ? braces : percent;
}

// Where the action that begins at `open` ends.
std::size_t end_of_action(std::string_view text, std::size_t open) {
  return text.find(text[open + 1] == '%' ? "%}" : "}}", open);
}

// Does nothing but actions stand on `lines`?
bool only_actions(std::string_view lines) {
  for (auto open = next_action(lines); open != std::string_view::npos; open = next_action(lines)) {
    if (!trimmed(lines.substr(0, open), " \t\r").empty()) return false;
    const auto close = end_of_action(lines, open);
    if (close == std::string_view::npos) return true;
    lines.remove_prefix(close + 2);
  }
  return trimmed(lines, " \t\r").empty();
}

// So far up the owner of a hole is looked for; a block of more lines nobody writes.
constexpr std::size_t longest_block = 5000;

// The column at which an action writes its lines: "... | nindent 8" -> 8 (https://helm.sh/docs/chart_template_guide/yaml_techniques/).
std::optional<int> indent_of(std::string_view action) {
  constexpr std::string_view word = "indent ";
  const auto at = action.rfind(word);
  if (at == std::string_view::npos) return std::nullopt;
  const auto digits = trimmed(action.substr(at + word.size()), "{}- \t\r\n)");
  return whole_number<int>(digits);
}

int indent_of_line(std::string_view line) {
  const auto first = line.find_first_not_of(' ');
  if (first == std::string_view::npos || line[first] == '#' || line[first] == '\r') return -1;
  return static_cast<int>(first);
}

// The columns of `line` at which something begins that other lines may belong to: "  - a: 1" has an item at 2 and a key at 4.
std::vector<int> owners_on(std::string_view line) {
  std::vector<int> columns;
  auto at = line.find_first_not_of(' ');
  while (at != std::string_view::npos && line[at] != '#' && line[at] != '\r') {
    columns.push_back(static_cast<int>(at));
    if (line[at] != '-' || at + 1 >= line.size() || line[at + 1] != ' ') break;
    at = line.find_first_not_of(' ', at + 1);
  }
  return columns;
}

void find_owner(const std::vector<std::string_view>& lines, Hole& hole) {
  auto at = static_cast<std::size_t>(hole.line - 1);
  for (std::size_t steps = 0; at > 0 && steps < longest_block; ++steps) {
    const auto columns = owners_on(lines[--at]);
    const auto owner = std::ranges::find_if(columns.rbegin(), columns.rend(),
                                            [&](int column) { return column < hole.column; });
    if (owner == columns.rend()) continue;
    hole.owner_line = static_cast<int>(at) + 1;
    hole.owner_column = *owner;
    return;
  }
}

// Takes the blanks out of lines that have nothing else: before the first words of a block (|) YAML allows no deeper ones.
void empty_blank_lines(std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = std::string_view(text).substr(at, end - at);
    out += line.find_first_not_of(" \r\n") == std::string_view::npos && line.ends_with('\n') ? "\n"
                                                                                             : line;
    at = end;
  }
  text = std::move(out);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TemplateText without_actions(std::string_view text) {
  TemplateText out;
  if (next_action(text) == std::string_view::npos) return out;
  out.text = text;
  int line = 1;
  std::size_t counted = 0;
  int depth = 0;
  for (auto open = next_action(text); open != std::string_view::npos;
       open = next_action(text, open)) {
    const auto close = end_of_action(text, open);
    if (close == std::string_view::npos) break;
    const std::size_t end = close + 2;
    out.templated = true;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
    counted = open;
    const bool alone = only_actions(lines_around(text, open, end));
    const bool silent = writes_nothing(text.substr(open, end - open));
    if (alone && !silent) {
      out.holes.push_back({line, indent_of(text.substr(open, end - open)).value_or(-1)});
    }
    if (const int change = opened_by(text.substr(open, end - open)); change != 0) {
      depth = std::max(depth + change, 0);
      out.depths.emplace_back(line, depth);
    }
    for (std::size_t at = open; at < end; ++at) {
      if (text[at] != '\n') out.text[at] = alone || silent ? ' ' : '$';
    }
    open = end;
  }
  empty_blank_lines(out.text);
  if (out.holes.empty()) return out;
  const auto lines = lines_of(out.text);
  for (Hole& hole : out.holes) {
    if (hole.column > 0) find_owner(lines, hole);
  }
  return out;
}

int TemplateText::block_end(yaml::Place first) const {
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    ++line;
    const int indent =
        line > first.line ? indent_of_line(std::string_view(text).substr(at, end - at)) : -1;
    if (indent >= 0 && indent < first.column - 1) return line;
    at = end + 1;
  }
  return line + 1;
}

int TemplateText::depth_at(int line) const {
  int depth = 0;
  for (const auto& [from, now] : depths) {
    if (from > line) break;
    depth = now;
  }
  return depth;
}

std::string readable(std::string_view text) {
  // The shortest action, {{.}}, leaves five of them.
  constexpr std::string_view trace = "$$$$$";
  std::string out;
  for (auto at = text.find(trace); at != std::string_view::npos; at = text.find(trace)) {
    out += text.substr(0, at);
    out += "{{...}}";
    text.remove_prefix(std::min(text.find_first_not_of('$', at), text.size()));
  }
  out += text;
  return out;
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
