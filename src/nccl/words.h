// NCCL analyzer: small pieces that its readers of text share.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace stoker::nccl {

constexpr auto npos = std::string_view::npos;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != npos;
}

// The decimal number behind the first `name` in `text`.
template <typename T = std::int64_t>
std::optional<T> number_behind(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == npos) return std::nullopt;
  T number = 0;
  const auto* first = text.data() + at + name.size();
  const auto [end, code] = std::from_chars(first, text.data() + text.size(), number);
  if (code != std::errc{}) return std::nullopt;
  return number;
}

// What stands behind the first `name` in `text`, up to one of `ends`; empty: `name` is not there.
inline std::string_view word_behind(std::string_view text, std::string_view name,
                                    std::string_view ends = " ,)") {
  const auto at = text.find(name);
  if (at == npos) return {};
  const auto rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(ends));
}

// The hexadecimal number behind the first `name`, with 0x in front or not.
inline std::optional<std::uint64_t> hex_behind(std::string_view text, std::string_view name) {
  auto word = word_behind(text, name);
  if (word.starts_with("0x")) word.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number, 16);
  if (code != std::errc{} || word.empty() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Text of a log as evidence: one line, without control characters, not longer than `most`.
std::string shown(std::string_view text, std::size_t most = 300);

}  // namespace stoker::nccl
