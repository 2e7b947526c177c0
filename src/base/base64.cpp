#include "base/base64.h"

#include <cstdint>

namespace stoker {
namespace {

constexpr int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int digits = 0;  // of the group of four that is being read
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    const int digit = digit_of(c);
    if (c == '=') {
      if (digits < 2) return std::nullopt;
      ++padding;
    } else if (digit < 0 || padding > 0) {
      return std::nullopt;
    }
    bits = (bits << 6) | static_cast<std::uint32_t>(digit < 0 ? 0 : digit);
    if (++digits < 4) continue;
    for (int byte = 0; byte < 3 - padding; ++byte)
      out += static_cast<char>((bits >> (16 - 8 * byte)) & 0xff);
    digits = 0;
    bits = 0;
    if (padding > 0) padding = 4;  // nothing may follow
  }
  if (digits != 0) return std::nullopt;
  return out;
}

}  // namespace stoker
