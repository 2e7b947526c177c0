// Ground stage: "host:port" as users write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker {

struct HostPort {
  std::string host;  // without brackets; never empty
  std::uint16_t port = 0;
};

// "127.0.0.1:9400", "localhost:0", "[::1]:9400", ":9400" (all interfaces: host "::"). Anything else
// is invalid_input that shows the text and what would be right.
Result<HostPort> parse_host_port(std::string_view text);

// The other way round, with brackets where IPv6 needs them.
std::string format_host_port(const HostPort& address);

}  // namespace stoker
