// Ground stage: is this text UTF-8 (RFC 3629)?
#pragma once

#include <cstddef>
#include <string_view>

namespace stoker {

// Bytes of the character that begins at `at`, which is inside `text`; 0 if there is none: a stray or
// cut-off byte, an overlong form, a surrogate, or more than U+10FFFF.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace stoker
