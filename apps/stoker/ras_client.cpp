#include "ras_client.h"

#include <fmt/format.h>

#include "net/line_client.h"

namespace stoker::app {
namespace {

// After the greeting, and with the format chosen.
Result<net::LineClient> greet(const HostPort& address, std::chrono::milliseconds timeout,
                              bool json) {
  auto client = net::LineClient::connect(address, timeout);
  if (!client) return fail(client.error());
  if (const auto sent = client->send("CLIENT PROTOCOL 2\n"); !sent) return fail(sent.error());
  const auto greeting = client->read_line();
  if (!greeting) return fail(greeting.error());
  if (!greeting->starts_with("SERVER PROTOCOL "))
    return fail(ErrorCode::corrupt, "what answers there is not NCCL's RAS");
  if (!json) return client;
  if (const auto sent = client->send("SET FORMAT json\n"); !sent) return fail(sent.error());
  const auto done = client->read_line();
  if (!done) return fail(done.error());
  if (!done->starts_with("OK")) return fail(ErrorCode::not_supported, *done);
  return client;
}

}  // namespace

Result<HostPort> parse_ras_address(const std::string& text) {
  const bool host_alone = text.find(':') == std::string::npos || text.ends_with(']');
  return parse_host_port(host_alone ? fmt::format("{}:{}", text, ras_port) : text);
}

Result<std::string> ask_ras(const HostPort& address, std::chrono::milliseconds timeout,
                            std::size_t most) {
  auto client = greet(address, timeout, true);
  // Before 2.28.7 there is no other format, and what follows an unknown command is not said: from the start again.
  if (!client && client.error().code() == ErrorCode::not_supported)
    client = greet(address, timeout, false);
  if (!client) return fail(client.error());
  if (const auto sent = client->send("VERBOSE STATUS\n"); !sent) return fail(sent.error());
  return client->read_all(most);
}

std::string as_log(const std::string& answer) {
  return answer.starts_with("{") ? answer : fmt::format("SERVER PROTOCOL 2\n{}", answer);
}

}  // namespace stoker::app
