#include "lint/env/env_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace stoker::lint {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// One word of a shell's line, quotes taken off: how much of `text` it took, and what it says. What single quotes hold
// counts as written, so a $ in them stands for itself; that is rare enough to be left as a placeholder.
struct ShellWord {
  std::size_t length = 0;
  std::string text;
  bool closed = true;  // quotes that were opened were closed on this line
};

ShellWord shell_word(std::string_view text) {
  ShellWord word;
  char quote = 0;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == 0 && (c == ' ' || c == '\t' || c == ';' || c == '&' || c == '|')) break;
    if (c == '\\' && quote != '\'' && at + 1 < text.size()) {
      word.text += text[++at];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      word.text += c;
    }
  }
  word.length = at;
  word.closed = quote == 0;
  return word;
}

// Words that may stand before an assignment.
bool is_front(std::string_view word) {
  constexpr auto fronts = std::to_array<std::string_view>(
      {"export", "declare", "typeset", "-x", "-gx", "env", "then", "do", "else", "{", "-e", "--env",
       "ENV", "setenv", "local", "readonly"});
  return std::ranges::find(fronts, word) != fronts.end();
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

template <typename Take>
void each_line(std::string_view text, Take take) {
  for (int number = 1; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    take(without_end(line), number);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

// src/misc/param.cc, setEnvFile(): name up to the first =, value to the end of the line.
void read_conf_line(std::string_view line, const std::string& file, int number,
                    std::vector<Variable>& variables) {
  const auto equals = line.find('=');
  if (equals == npos || trimmed(line).starts_with('#')) return;
  variables.push_back({.name = std::string(line.substr(0, equals)),
                       .value = std::string(line.substr(equals + 1)),
                       .place = {file, number, 1}});
}

}  // namespace

void read_assignments(std::string_view line, const FileLocation& start,
                      std::vector<Variable>& variables) {
  std::size_t at = 0;
  bool exported = false;
  while (true) {
    at = line.find_first_not_of(" \t;&|", at);
    if (at == npos || line[at] == '#') return;
    const auto rest = line.substr(at);
    const auto equals = rest.find('=');
    const auto name = rest.substr(0, equals);
    if (equals != npos && is_name(name)) {
      const auto word = shell_word(rest.substr(equals + 1));
      Variable variable{.name = std::string(name), .value = word.text, .place = start};
      if (!word.closed) variable.value.reset();
      variable.place.column += static_cast<int>(at);
      variables.push_back(std::move(variable));
      at += equals + 1 + word.length;
      continue;
    }
    const auto word = shell_word(rest);
    if (word.length == 0) return;
    if (exported && is_name(word.text)) {  // export NAME: its value is set elsewhere
      at += word.length;
      continue;
    }
    if (is_front(word.text)) {
      exported = word.text == "export";
      at += word.length;
      continue;
    }
    // A command: what stands behind the next ; or && may set again.
    at = line.find_first_of(";&", at + word.length);
    if (at == npos) return;
    exported = false;
  }
}

std::vector<Variable> read_environment_text(std::string_view text, const std::string& file,
                                            EnvReader reader) {
  std::vector<Variable> variables;
  each_line(text, [&](std::string_view line, int number) {
    if (reader == EnvReader::nccl_conf) return read_conf_line(line, file, number, variables);
    if (reader == EnvReader::environment) {  // `env`: nothing is quoted
      const auto equals = line.find('=');
      if (equals != npos && is_name(line.substr(0, equals))) {
        variables.push_back({.name = std::string(line.substr(0, equals)),
                             .value = std::string(line.substr(equals + 1)),
                             .place = {file, number, 1}});
      }
      return;
    }
    read_assignments(line, {file, number, 1}, variables);
  });
  return variables;
}

std::vector<Variable> read_process_environment(std::string_view bytes, const std::string& file) {
  std::vector<Variable> variables;
  while (!bytes.empty()) {
    const auto entry = bytes.substr(0, bytes.find('\0'));
    const auto equals = entry.find('=');
    if (equals != npos && equals > 0) {
      variables.push_back({.name = std::string(entry.substr(0, equals)),
                           .value = std::string(entry.substr(equals + 1)),
                           .place = {file, 0, 0}});
    }
    bytes.remove_prefix(std::min(entry.size() + 1, bytes.size()));
  }
  return variables;
}

EnvReader reader_for(std::string_view file, std::string_view text) {
  const auto slash = file.rfind('/');
  const auto base = slash == npos ? file : file.substr(slash + 1);
  if (base == "nccl.conf" || base == ".nccl.conf") return EnvReader::nccl_conf;
  if (text.starts_with("#!")) return EnvReader::script;
  EnvReader reader = EnvReader::list;
  each_line(text, [&](std::string_view line, int) {
    const auto plain = trimmed(line);
    if (plain.empty() || plain.starts_with('#')) return;
    const auto name = plain.substr(0, plain.find_first_of(" =\t"));
    if (is_front(name) || (is_name(name) && plain.substr(name.size()).starts_with('='))) return;
    reader = EnvReader::script;
  });
  return reader;
}

}  // namespace stoker::lint
