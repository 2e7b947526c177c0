// Ground stage: text inside XML.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// `text` as an attribute's value in double quotes, or between tags. A line break is written by its number; XML 1.0 has no
// way to write most other control characters, which become blanks.
std::string xml_escaped(std::string_view text);

}  // namespace stoker
