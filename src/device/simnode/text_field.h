// Simulated node: strings of the state file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace stoker::simnode {

// Fills `field` with zeroes behind `text`, which is cut where it does not fit.
template <std::size_t size>
void put(char (&field)[size], std::string_view text) {
  std::memset(field, 0, size);
  std::memcpy(field, text.data(), std::min(text.size(), size - 1));
}

template <std::size_t size>
std::string_view get(const char (&field)[size]) {
  return {field, ::strnlen(field, size)};
}

}  // namespace stoker::simnode
