// Edge: gzip for responses, where the client accepts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker::net {

// Does an Accept-Encoding header value allow gzip (RFC 9110 section 12.5.3: listed, or "*", with a
// weight above 0)?
bool accepts_gzip(std::string_view accept_encoding);

// The gzip stream of `text` at the quickest level; nullopt if zlib has no memory.
std::optional<std::string> gzip(std::string_view text);

}  // namespace stoker::net
