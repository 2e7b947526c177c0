// Health stage: the words of check files, and how a key's text becomes a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/yaml/map_reader.h"
#include "health/check.h"

namespace stoker::health {

// The words of to_string() for the enumerators 0 to `count` - 1.
template <typename T>
std::vector<std::string> words_of(std::size_t count) {
  std::vector<std::string> words;
  words.reserve(count);
  for (std::size_t n = 0; n < count; ++n) words.emplace_back(to_string(static_cast<T>(n)));
  return words;
}

inline constexpr std::size_t kind_count = static_cast<std::size_t>(CheckKind::port) + 1;
inline constexpr std::size_t relation_count = static_cast<std::size_t>(Relation::no_bit) + 1;
inline constexpr std::size_t severity_count = static_cast<std::size_t>(Severity::critical) + 1;
inline constexpr std::size_t action_count = static_cast<std::size_t>(Action::contact_vendor) + 1;
inline constexpr std::size_t reason_count = static_cast<std::size_t>(Reason::failed) + 1;

// One of an enumeration's words; without the key `out` stays.
template <typename T>
void read_word(yaml::MapReader& map, std::string_view key, std::size_t count, T& out,
               yaml::Need need) {
  std::size_t index = count;
  map.word(key, words_of<T>(count), index, need);
  if (index < count) out = static_cast<T>(index);
}

// A number, whole or not, decimal.
void read_number(yaml::MapReader& map, std::string_view key, double& out, yaml::Need need);
// "30s", from 0 to 30 days.
void read_duration(yaml::MapReader& map, std::string_view key, Nanoseconds& out);

}  // namespace stoker::health
