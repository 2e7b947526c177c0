// Edge: an effective configuration, for people and for programs.
#include <fmt/format.h>

#include "base/json_text.h"
#include "config/settings.h"
#include "model/wrap.h"

namespace stoker::config {
namespace {

constexpr std::size_t comment_column = 42;

std::string origin_text(const Origin& origin) {
  if (origin.kind == OriginKind::fallback) return "default";
  return fmt::format("{} {}", to_string(origin.kind), origin.text());
}

// Quoted where a reader of YAML would not take the text for one plain word.
std::string yaml_scalar(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-";
  const bool quote = text.empty() || text == "null" ||
                     text.find_first_not_of(plain) != std::string::npos || text.front() == ':' ||
                     text.front() == '-' || text.back() == ':';
  return quote ? json_quoted(text) : text;
}

std::string yaml_value(const Value& value) {
  if (const auto* words = std::get_if<std::vector<std::string>>(&value)) {
    return fmt::format("[{}]", fmt::join(*words, ", "));
  }
  return yaml_scalar(value_text(value));
}

void write_value(JsonWriter& json, const Value& value) {
  if (const auto* words = std::get_if<std::vector<std::string>>(&value)) {
    json.begin_array();
    for (const auto& word : *words) json.value(word);
    json.end_array();
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    json.value(*flag);
  } else if (const auto* number = std::get_if<double>(&value)) {
    json.value(*number);
  } else {
    json.value(value_text(value));
  }
}

}  // namespace

std::string to_yaml(const Settings& settings) {
  std::string out;
  std::string_view section;
  for (const Option& row : all_options()) {
    const auto dot = row.key.find('.');
    const std::string_view wanted = dot == std::string_view::npos ? "" : row.key.substr(0, dot);
    if (wanted != section && !wanted.empty()) out += fmt::format("{}:\n", wanted);
    section = wanted;
    const std::string_view name = dot == std::string_view::npos ? row.key : row.key.substr(dot + 1);
    const std::string line = fmt::format("{}{}: {}", wanted.empty() ? "" : "  ", name,
                                         yaml_value(settings.value(row.id)));
    // A key with an empty value would be refused when it is read back: it is shown as a comment.
    const bool empty = value_text(settings.value(row.id)).empty();
    out += fmt::format("{}  # {}\n", pad((empty ? "# " : "") + line, comment_column),
                       origin_text(settings.origin(row.id)));
  }
  return out;
}

std::string to_json(const Settings& settings) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/option").key("options").begin_array();
  for (const Option& row : all_options()) {
    const Origin& origin = settings.origin(row.id);
    json.begin_object().member("key", row.key).member("type", to_string(row.type)).key("value");
    write_value(json, settings.value(row.id));
    json.member("from", to_string(origin.kind)).member_or_null("where", origin.text());
    json.member("default", row.fallback).member("environment", row.environment());
    json.member_or_null("flag", row.flag).member_or_null("range", row.range);
    json.member("restart_needed", !row.live).member("help", row.help).end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::config
