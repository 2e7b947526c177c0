// Edge: the values of options: from text, checked, and back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/closest.h"
#include "base/duration.h"
#include "base/host_port.h"
#include "catalog/field.h"
#include "config/option.h"

namespace stoker::config {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

Result<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text));
  }
  return number;
}

// `value` of the type that `parse` reads, within "least..most".
template <typename T>
Result<Value> within(std::string_view range, T value, std::string_view text,
                     Result<T> (*parse)(std::string_view)) {
  const auto dots = range.find("..");
  const std::string_view least = range.substr(0, dots);
  const std::string_view most = range.substr(dots + 2);
  if (value >= *parse(least) && value <= *parse(most)) return Value(value);
  return fail(ErrorCode::invalid_input,
              fmt::format("{} is not between {} and {}", text, least, most));
}

Result<Value> parse_choice(const Option& option, std::string_view text) {
  const auto words = split(option.range, '|');
  if (std::ranges::find(words, text) != words.end()) return Value(std::string(text));
  return fail(ErrorCode::invalid_input, fmt::format("there is no \"{}\" here", text));
}

Result<Value> parse_boolean(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes") return Value(true);
  if (text == "false" || text == "off" || text == "no") return Value(false);
  return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is neither true nor false", text));
}

// A list of fields takes those that DCGM has (range "dcgm"), or those of a GPU ("gpu").
bool of_dcgm(const Option& option) { return option.range == "dcgm"; }

bool is_meant(const Option& option, const Field& row) {
  return of_dcgm(option) ? !row.dcgm_name.empty() : row.entity == EntityKind::gpu;
}

std::vector<std::string> field_names(const Option& option) {
  std::vector<std::string> names;
  for (const Field& row : all_fields()) {
    if (is_meant(option, row)) names.emplace_back(of_dcgm(option) ? row.dcgm_name : row.name);
  }
  return names;
}

Result<Value> parse_fields(const Option& option, std::string_view text) {
  auto names = split(text, ',');
  for (const auto& name : names) {
    const auto id = find_field(name);
    if (id && is_meant(option, field(*id))) continue;
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no {} field that Stoker knows",
                                                      name, of_dcgm(option) ? "DCGM" : "GPU"));
  }
  return Value(std::move(names));
}

// The one of `text`'s names that is wrong gets a suggestion.
std::string right_fields(const Option& option, std::string_view text) {
  const auto known = field_names(option);
  for (const auto& name : split(text, ',')) {
    const auto id = find_field(name);
    if (id && is_meant(option, field(*id))) continue;
    if (auto hint = did_you_mean(name, known); !hint.empty()) return hint;
  }
  return fmt::format("names as {}; `stoker fields` lists them",
                     of_dcgm(option) ? "DCGM_FI_DEV_PSTATE" : "power");
}

std::string right_choice(const Option& option, std::string_view text) {
  const auto words = split(option.range, '|');
  const auto hint = did_you_mean(text, words);
  return fmt::format("one of {}{}{}", fmt::join(words, ", "), hint.empty() ? "" : "; ", hint);
}

// Empty: nothing is said.
Result<Value> parse_count(const Option& option, std::string_view text) {
  if (text.empty()) return Value(std::string());
  const auto number = parse_number(text);
  if (!number) return fail(number.error());
  if (text.find_first_not_of("0123456789") != std::string_view::npos) {
    return fail(ErrorCode::invalid_input, fmt::format("{} is not a whole number", text));
  }
  const auto inside = within(option.range, *number, text, parse_number);
  if (!inside) return fail(inside.error());
  return Value(fmt::format("{}", *number));
}

// "between 10ms and 1h"
std::string bounds(const Option& option) {
  const auto dots = option.range.find("..");
  return fmt::format("between {} and {}", option.range.substr(0, dots),
                     option.range.substr(dots + 2));
}

}  // namespace

Result<Value> parse_value(const Option& option, std::string_view text) {
  switch (option.type) {
    case OptionType::text:
    case OptionType::path: return Value(std::string(text));
    case OptionType::choice: return parse_choice(option, text);
    case OptionType::boolean: return parse_boolean(text);
    case OptionType::fields: return parse_fields(option, text);
    case OptionType::names: return Value(split(text, ','));
    case OptionType::count: return parse_count(option, text);
    case OptionType::address: {
      if (parse_host_port(text)) return Value(std::string(text));
      return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is not HOST:PORT", text));
    }
    case OptionType::duration: {
      const auto duration = parse_duration(text);
      if (!duration) return fail(duration.error());
      return within(option.range, *duration, text, parse_duration);
    }
    case OptionType::number: {
      const auto number = parse_number(text);
      if (!number) return fail(number.error());
      return within(option.range, *number, text, parse_number);
    }
  }
  return fail(ErrorCode::internal, "an option without a type");
}

std::string right_values(const Option& option, std::string_view wrong) {
  switch (option.type) {
    case OptionType::text: return "a word";
    case OptionType::path: return "a path";
    case OptionType::choice: return right_choice(option, wrong);
    case OptionType::boolean: return "true or false";
    case OptionType::fields: return right_fields(option, wrong);
    case OptionType::address: return "127.0.0.1:9400, [::1]:9400, or :9400 for all interfaces";
    case OptionType::duration:
      return fmt::format("a duration {}, e.g. 250ms, 10s, 5m", bounds(option));
    case OptionType::number: return fmt::format("a number {}", bounds(option));
    case OptionType::names: return "names with commas between them, or a list";
    case OptionType::count: return fmt::format("a whole number {}", bounds(option));
  }
  return "";
}

std::string value_text(const Value& value) {
  struct Writer {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Nanoseconds duration) const { return duration_text(duration); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const std::vector<std::string>& words) const {
      return fmt::format("{}", fmt::join(words, ","));
    }
  };
  return std::visit(Writer{}, value);
}

}  // namespace stoker::config
