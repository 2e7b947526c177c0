// Edge: the option table as types. Rows stand in options.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::config {

enum class OptionId : std::uint8_t {
#define STOKER_OPTION(id, ...) id,
#include "config/options.def"
#undef STOKER_OPTION
  count_,
};
inline constexpr std::size_t option_count = static_cast<std::size_t>(OptionId::count_);

enum class OptionType : std::uint8_t {
  text,
  path,
  address,
  duration,
  number,
  boolean,
  choice,
  fields,
  names,
  count
};

// Stable lower-case word.
const char* to_string(OptionType type);

struct Option {
  OptionId id;
  std::string_view key;
  OptionType type;
  std::string_view fallback;
  std::string_view range;
  std::string_view placeholder;
  std::string_view flag;
  bool live;
  std::string_view help;

  [[nodiscard]] std::string environment() const;  // "STOKER_PROBE_HUNG_AFTER"
};

std::span<const Option> all_options();
const Option& option(OptionId id);
// By its key in the config file.
const Option* find_option(std::string_view key);
std::vector<std::string> option_keys();

// text, path, address, choice: string; count: string too, empty where nothing is said; fields, names:
// words.
using Value = std::variant<std::string, Nanoseconds, double, bool, std::vector<std::string>>;

// `text` as a value of `option`, checked against its range; invalid_input says what is wrong.
Result<Value> parse_value(const Option& option, std::string_view text);

// What would be right where `wrong` was refused, e.g. "a duration between 10ms and 1h, e.g. 10s".
std::string right_values(const Option& option, std::string_view wrong);

// As a user would write it.
std::string value_text(const Value& value);

}  // namespace stoker::config
