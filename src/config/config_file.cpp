#include "config/config_file.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/closest.h"
#include "catalog/yaml/yaml.h"

namespace stoker::config {
namespace {

// What stands directly below `prefix` ("" or "probe."), once each.
std::vector<std::string> names_below(std::string_view prefix) {
  std::set<std::string> names;
  for (const Option& row : all_options()) {
    if (!row.key.starts_with(prefix)) continue;
    const std::string_view rest = row.key.substr(prefix.size());
    names.emplace(rest.substr(0, rest.find('.')));
  }
  return {names.begin(), names.end()};
}

class FileReader {
 public:
  FileReader(const std::string& file, Settings& settings, std::vector<Finding>& findings)
      : file_(file), settings_(settings), findings_(findings) {}

  void take_section(const yaml::Node& node, const std::string& prefix) {
    if (node.empty()) return;
    if (node.kind != yaml::Node::Kind::map) {
      const auto names = names_below(prefix);
      problem("config-wrong-value", node.place,
              fmt::format("{} has to be a map",
                          prefix.empty() ? "the file" : prefix.substr(0, prefix.size() - 1)),
              fmt::format("write its options below it, indented: {}", listed(names)));
      return;
    }
    for (const auto& [key, value] : node.entries) {
      const std::string full = prefix + key.text;
      const bool dotted = key.text.find('.') != std::string::npos;
      if (const Option* row = find_option(full); row != nullptr && !dotted) {
        take_value(*row, key, value);
      } else if (!names_below(full + ".").empty()) {
        take_section(value, full + ".");
      } else {
        unknown(key, prefix);
      }
    }
  }

  void problem(std::string rule, yaml::Place place, std::string message, std::string fix) {
    Finding finding = config_finding(std::move(rule), std::move(message), std::move(fix));
    finding.entity = {EntityKind::file, file_};
    finding.location = FileLocation{file_, place.line, place.column};
    findings_.push_back(std::move(finding));
  }

 private:
  void take_value(const Option& row, const yaml::Node& key, const yaml::Node& value) {
    if (value.empty()) {
      return problem("config-wrong-value", key.place, fmt::format("{} has no value", row.key),
                     "leave the key out to take its default");
    }
    std::string text = value.text;
    const bool takes_list = row.type == OptionType::fields || row.type == OptionType::names;
    if (value.kind == yaml::Node::Kind::list && takes_list) {
      for (const auto& item : value.items) text += (text.empty() ? "" : ",") + item.text;
    } else if (value.kind != yaml::Node::Kind::scalar) {
      return problem("config-wrong-value", value.place,
                     fmt::format("{} has to be one value, not a {}", row.key,
                                 value.kind == yaml::Node::Kind::map ? "map" : "list"),
                     right_values(row, ""));
    }
    auto parsed = parse_value(row, text);
    if (!parsed) {
      return problem("config-wrong-value", value.place,
                     fmt::format("{}: {}", row.key, parsed.error().message()),
                     right_values(row, text));
    }
    settings_.set(row.id, std::move(*parsed),
                  {OriginKind::file, file_, key.place.line, key.place.column});
  }

  void unknown(const yaml::Node& key, const std::string& prefix) {
    const std::string full = prefix + key.text;
    if (find_option(full) != nullptr) {
      return problem("config-unknown-key", key.place,
                     fmt::format("\"{}\" is written with a dot", key.text),
                     "write each part on a line of its own, the later one indented");
    }
    std::string fix = did_you_mean(full, option_keys());
    if (fix.empty()) fix = did_you_mean(key.text, names_below(prefix));
    if (fix.empty()) fix = fmt::format("there are {}", listed(names_below(prefix)));
    problem("config-unknown-key", key.place, fmt::format("there is no option \"{}\"", full), fix);
  }

  const std::string& file_;
  Settings& settings_;
  std::vector<Finding>& findings_;
};

// The lines "file:line:column: message" of a yaml error.
void take_syntax_errors(const Error& error, const std::string& file, FileReader& reader) {
  std::string_view text = error.message();
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    yaml::Place place{0, 0};
    if (line.starts_with(file + ":")) {
      const char* const last = line.data() + line.size();
      auto [after_line, line_code] =
          std::from_chars(line.data() + file.size() + 1, last, place.line);
      if (line_code == std::errc{} && after_line < last && *after_line == ':') {
        auto [after_column, column_code] = std::from_chars(after_line + 1, last, place.column);
        if (column_code == std::errc{} && last - after_column > 2) {
          line = {after_column + 2, static_cast<std::size_t>(last - after_column - 2)};
        }
      }
    }
    reader.problem("config-syntax", place, std::string(line), "correct the file at this place");
  }
}

}  // namespace

Finding config_finding(std::string rule, std::string message, std::string fix) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = Severity::error;
  finding.message = std::move(message);
  finding.action = Action::fix_config;
  finding.fix = std::move(fix);
  return finding;
}

void take_config(const Result<yaml::Node>& document, const std::string& path, Settings& settings,
                 std::vector<Finding>& findings) {
  FileReader reader(path, settings, findings);
  if (document) return reader.take_section(*document, "");
  const Error& error = document.error();
  if (error.message() == path + ":1:1: the file is empty") return;  // all defaults
  if (error.code() == ErrorCode::invalid_input) return take_syntax_errors(error, path, reader);
  reader.problem("config-cannot-read", {0, 0}, error.message(), "name a file that can be read");
}

}  // namespace stoker::config
