// Edge: "host:port" as users write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker::net {

struct HostPort {
  std::string host;  // without brackets; never empty
  std::uint16_t port = 0;
};

// "127.0.0.1:9400", "localhost:0", "[::1]:9400", ":9400" (all interfaces: host "::" ). Anything else
// is invalid_input that shows the text and what would be right.
Result<HostPort> parse_host_port(std::string_view text);

// The other way round, with brackets where IPv6 needs them.
std::string format_host_port(const HostPort& address);

// "/a%20b" -> "/a b". invalid_input where a % is not followed by two hexadecimal digits.
Result<std::string> percent_decode(std::string_view text);

}  // namespace stoker::net
