#include "help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "model/wrap.h"

namespace stoker::app {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t text_column = 28;  // of what flags and verbs do

// `text` behind `left`, whose own text begins at `column` at the latest.
std::string beside(const std::string& left, std::string_view text, std::size_t column) {
  std::string out = left;
  if (!left.empty() && columns(left) + 2 > column) {
    out += "\n" + std::string(column, ' ');
  } else {
    out += std::string(column - columns(left), ' ');
  }
  bool first = true;
  for (const std::string& line : wrap(text, width - column)) {
    if (!first) out += "\n" + std::string(column, ' ');
    out += line;
    first = false;
  }
  return out + "\n";
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* option : options) {
    names += (names.empty() ? "" : " or ") + option->get_name();
  }
  return names;
}

std::string what_it_does(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required() && !option.get_positional()) text += " (required)";
  if (!option.get_needs().empty()) text += " (only with " + names_of(option.get_needs()) + ")";
  if (!option.get_excludes().empty()) text += " (not with " + names_of(option.get_excludes()) + ")";
  return text;
}

// Where the text of a line begins that is continued below itself.
std::size_t hanging_column(std::string_view line) {
  constexpr std::size_t furthest = 48;
  const std::size_t indentation = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.rfind("  ", furthest);
  return gap == std::string_view::npos || gap + 2 <= indentation ? indentation : gap + 2;
}

std::string fitted_line(const std::string& line) {
  if (columns(line) <= width) return line + "\n";
  const std::size_t column = hanging_column(line);
  std::string left = line.substr(0, column);
  left.erase(left.find_last_not_of(' ') + 1);
  return beside(left, line.substr(column), column);
}

bool continues(const std::string& line, std::string_view next) {
  if (line.empty() || next.empty() || line.front() == ' ' || next.front() == ' ') return false;
  if (next.starts_with("Exit codes:")) return false;  // a paragraph of its own
  return columns(line) + 1 + columns(next.substr(0, next.find(' '))) > width;
}

class HelpStyle final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string left = "  " + make_option_name(option, is_positional);
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) {
      left += " " + option->get_type_name();
    }
    return beside(left, what_it_does(*option), text_column);
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return beside("  " + verb->get_display_name(true), verb->get_description(), text_column);
  }
  std::string make_description(const CLI::App* verb) const override {
    return fitted(verb->get_description());
  }
  std::string make_usage(const CLI::App* verb, std::string name) const override {
    return fitted(CLI::Formatter::make_usage(verb, std::move(name)));
  }
  std::string make_footer(const CLI::App* verb) const override {
    return fitted(verb->get_footer());
  }
};

}  // namespace

std::string fitted(std::string_view text) {
  std::string out;
  std::string pending;
  bool any = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (any && continues(pending, line)) {
      pending += " ";
      pending += line;
      continue;
    }
    if (any) out += fitted_line(pending);
    pending = line;
    any = true;
  }
  return any ? out + fitted_line(pending) : out;
}

void use_help_style(CLI::App& app) { app.formatter(std::make_shared<HelpStyle>()); }

}  // namespace stoker::app
