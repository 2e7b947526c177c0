#include "base/utf8.h"

namespace stoker {
namespace {

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return continues(text, at + 1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second > 0x9FU;
    return !overlong && !surrogate && continues(text, at + 1) && continues(text, at + 2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool overlong = first == 0xF0U && second < 0x90U;
    const bool too_large = first == 0xF4U && second > 0x8FU;
    return !overlong && !too_large && continues(text, at + 1) && continues(text, at + 2) &&
                   continues(text, at + 3)
               ? 4
               : 0;
  }
  return 0;
}

}  // namespace stoker
