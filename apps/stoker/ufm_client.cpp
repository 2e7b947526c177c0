#include "ufm_client.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "fabric/ufm.h"
#include "lint_run.h"
#include "net/http_client.h"

namespace stoker::app {
namespace {

// A port has about 1.3 KB in UFM's list: of 60,000 ports.
constexpr std::size_t largest_answer = std::size_t{128} << 20U;
constexpr std::chrono::milliseconds ufm_timeout{60'000};
constexpr int status_ok = 200;
constexpr int status_unauthorized = 401;
constexpr int status_forbidden = 403;

// Tokens are for /ufmRestV3, and stand behind "Basic" as they are (UFM Enterprise REST API Guide, "REST API Complementary
// Information").
Result<net::ClientRequest> ufm_request(const UfmAccess& access) {
  std::string url = access.url;
  while (url.ends_with('/')) url.pop_back();
  if (const auto problem = net::url_problem(url)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--ufm {}: {}", net::without_secrets(url), *problem));
  }
  const auto token = read_whole(access.token_file);
  if (!token) return fail(token.error());
  const std::string_view text = trimmed(*token, " \t\r\n");
  if (text.empty()) {
    return fail(ErrorCode::invalid_input, fmt::format("{} has no token", access.token_file));
  }
  net::ClientRequest request{.url = url + "/ufmRestV3/resources/ports"};
  request.headers.emplace_back("Authorization", fmt::format("Basic {}", text));
  return request;
}

Result<net::ClientResponse> ufm_answer(const UfmAccess& access) {
  const auto request = ufm_request(access);
  if (!request) return fail(request.error());
  net::ClientOptions options{.timeout = ufm_timeout, .max_body_bytes = largest_answer};
  if (!access.ca_file.empty()) {
    const auto authorities = read_whole(access.ca_file);
    if (!authorities) return fail(authorities.error());
    options.tls.authorities = *authorities;
  }
  auto answer = net::http_send(*request, options);
  if (!answer) return answer;
  if (answer->status == status_unauthorized || answer->status == status_forbidden) {
    return fail(ErrorCode::no_permission,
                fmt::format("UFM does not take the token of {} (it answers {})", access.token_file,
                            answer->status));
  }
  if (answer->status != status_ok) {
    return fail(ErrorCode::unavailable, fmt::format("UFM answers {} to {}", answer->status,
                                                    net::without_secrets(request->url)));
  }
  return answer;
}

}  // namespace

Result<fabric::Sweep> read_ufm(const UfmAccess& access) {
  const MonotonicTime begin = system_clock().monotonic();
  const auto answer = ufm_answer(access);
  if (!answer) return fail(answer.error());
  auto sweep = fabric::read_ufm_ports(answer->body);
  if (!sweep) {
    return fail(ErrorCode::corrupt,
                fmt::format("UFM's answer can't be read: {}", sweep.error().message()));
  }
  sweep->taken = system_clock().wall();
  sweep->took = system_clock().monotonic() - begin;
  sweep->source = "UFM " + net::without_secrets(access.url);
  return sweep;
}

}  // namespace stoker::app
