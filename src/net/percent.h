// Edge: percent-encoding of URLs (RFC 3986 section 2.1).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker::net {

// "/a%20b" -> "/a b". invalid_input where a % is not followed by two hexadecimal digits.
Result<std::string> percent_decode(std::string_view text);

// All but letters, digits and - . _ ~ encoded: fit for a parameter's value.
std::string percent_encode(std::string_view text);

}  // namespace stoker::net
