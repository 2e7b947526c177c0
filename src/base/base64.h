// Ground stage: base64 as RFC 4648 section 4 has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// The bytes that `text` stands for; blanks and line breaks between are passed over. nullopt: it is no base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace stoker
