#include "cluster/kubernetes/api/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/text.h"
#include "catalog/yaml/yaml.h"
#include "cluster/kubernetes/api/documents.h"
#include "cluster/kubernetes/api/exec_plugin.h"

namespace stoker::kubernetes {
namespace {

net::ClientOptions options_for(const Access& access, const ClientSettings& settings) {
  return {.timeout = settings.timeout,
          .max_body_bytes = settings.most_bytes,
          .tls = access.tls,
          .packed = true};
}

bool is_busy(int status) { return status == 429 || status >= 500; }

}  // namespace

struct Client::Parts {
  Parts(Access given, ClientSettings set)
      : access(std::move(given)), settings(std::move(set)), http(options_for(access, settings)) {}

  Access access;
  ClientSettings settings;
  net::HttpClient http;
  std::string plugin_token;
  bool plugin_ran = false;

  // What an exec plugin gives goes into our access; it runs once, and again for `anew`.
  Result<void> run_plugin(bool anew) {
    if (plugin_ran && !anew) return {};
    auto credential = run_exec_plugin(access, settings.plugin_timeout);
    if (!credential) return fail(credential.error());
    plugin_ran = true;
    plugin_token = std::move(credential->token);
    if (credential->certificate.empty()) return {};
    access.tls.certificate = std::move(credential->certificate);
    access.tls.key = std::move(credential->key);
    http = net::HttpClient(options_for(access, settings));
    return {};
  }

  // The token for the next request; empty: none is needed.
  Result<std::string> token(bool anew) {
    if (!access.token_file.empty()) {
      const auto text = yaml::read_text(access.token_file);
      if (!text) return fail(text.error());
      return std::string(trimmed(*text, " \t\r\n"));
    }
    if (!access.exec) return access.token;
    const auto ran = run_plugin(anew);
    if (!ran) return fail(ran.error());
    return plugin_token;
  }

  Result<net::ClientRequest> request_of(const std::string& path, bool anew) {
    auto bearer = token(anew);
    if (!bearer) return fail(bearer.error());
    if (bearer->find_first_of("\r\n") != std::string::npos)
      return fail(ErrorCode::invalid_input, "the token has a line break, so it is none");
    net::ClientRequest request;
    request.url = access.server + path;
    request.headers.emplace_back("Accept", "application/json");
    if (!bearer->empty()) request.headers.emplace_back("Authorization", "Bearer " + *bearer);
    if (!access.as_user.empty()) request.headers.emplace_back("Impersonate-User", access.as_user);
    for (const auto& group : access.as_groups)
      request.headers.emplace_back("Impersonate-Group", group);
    return request;
  }

  void wait(int tried, const net::ClientResponse& busy) const {
    constexpr std::chrono::milliseconds first{500};
    auto time = first * (1 << std::min(tried, 10));
    if (busy.retry_after) time = *busy.retry_after;
    time = std::min(time, settings.longest_wait);
    if (settings.sleep) return settings.sleep(time);
    std::this_thread::sleep_for(time);
  }

  [[nodiscard]] Error unknown_to(const std::string& body) const {
    const auto said = read_status(body).message;
    return Error(
        ErrorCode::no_permission,
        fmt::format("{} does not know who we are (401{}{}); context {}: renew its token or "
                    "certificate, or give a token by --token-file",
                    access.server, said.empty() ? "" : ": ", said, access.name));
  }

  Result<Answer> get(const std::string& path) {
    bool anew = false;
    for (int tried = 0;; ++tried) {
      const auto request = request_of(path, anew);
      if (!request) return fail(request.error());
      auto response = http.send(*request);
      if (!response) return fail(response.error());
      if (response->status == 401) {
        // Once more with what a file or plugin has now: a token may have run out in between.
        if (anew || (access.token_file.empty() && !access.exec))
          return fail(unknown_to(response->body));
        anew = true;
        continue;
      }
      if (!is_busy(response->status)) return Answer{response->status, std::move(response->body)};
      if (tried + 1 >= settings.tries) {
        const auto said = read_status(response->body).message;
        return fail(ErrorCode::unavailable,
                    fmt::format("{} answered {} {} times{}{}", access.server, response->status,
                                settings.tries, said.empty() ? "" : ": ", said));
      }
      wait(tried, *response);
    }
  }
};

Client::Client(Access access, ClientSettings settings)
    : parts_(std::make_unique<Parts>(std::move(access), std::move(settings))) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Answer> Client::get(const std::string& path) { return parts_->get(path); }

const Access& Client::access() const { return parts_->access; }

}  // namespace stoker::kubernetes
