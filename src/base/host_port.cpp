#include "base/host_port.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stoker {
namespace {

tl::unexpected<Error> not_an_address(std::string_view text) {
  return fail(ErrorCode::invalid_input,
              fmt::format("\"{}\" is not HOST:PORT; right are 127.0.0.1:9400, [::1]:9400 or :9400 "
                          "(all interfaces)",
                          text));
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return not_an_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]/ \t") != std::string_view::npos) {
    return not_an_address(text);
  }
  const auto number = whole_number<std::uint16_t>(port);
  if (!number) return not_an_address(text);
  return HostPort{host.empty() ? "::" : std::string(host), *number};
}

std::string format_host_port(const HostPort& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address.host, ipv6 ? "]" : "", address.port);
}

}  // namespace stoker
