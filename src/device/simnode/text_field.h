// Simulated node: strings of the state file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace stoker::simnode {

// Fills `field` with zeroes behind `text`, which is cut where it does not fit.
template <std::size_t N>
void put(char (&field)[N], std::string_view text) {
  std::memset(field, 0, N);
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

template <std::size_t N>
std::string_view get(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

}  // namespace stoker::simnode
