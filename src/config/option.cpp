#include "config/option.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace stoker::config {
namespace {

constexpr std::array<Option, option_count> option_rows = {{
#define STOKER_OPTION(id, key, type, fallback, range, placeholder, flag, live, help) \
  Option{OptionId::id, key, OptionType::type, fallback, range, placeholder, flag, live, help},
#include "config/options.def"
#undef STOKER_OPTION
}};

}  // namespace

const char* to_string(OptionType type) {
  switch (type) {
    case OptionType::text: return "text";
    case OptionType::path: return "path";
    case OptionType::address: return "address";
    case OptionType::duration: return "duration";
    case OptionType::number: return "number";
    case OptionType::boolean: return "boolean";
    case OptionType::choice: return "choice";
    case OptionType::fields: return "fields";
    case OptionType::names: return "names";
    case OptionType::count: return "count";
  }
  return "text";
}

std::string Option::environment() const {
  std::string name = "STOKER_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::span<const Option> all_options() { return option_rows; }

const Option& option(OptionId id) { return option_rows.at(static_cast<std::size_t>(id)); }

const Option* find_option(std::string_view key) {
  const auto* found = std::ranges::find(option_rows, key, &Option::key);
  return found == option_rows.end() ? nullptr : found;
}

std::vector<std::string> option_keys() {
  std::vector<std::string> keys;
  keys.reserve(option_rows.size());
  for (const Option& row : option_rows) keys.emplace_back(row.key);
  return keys;
}

}  // namespace stoker::config
