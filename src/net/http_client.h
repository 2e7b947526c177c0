// Edge: the HTTP client, for the command line and other short questions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stoker::net {

// How an https:// server is known, and who we are to it. Texts in PEM; empty ones are not used.
struct ClientTls {
  std::string authorities;  // the only ones trusted; empty: those of the system
  std::string certificate;  // ours, with its key
  std::string key;
  std::string server_name;  // that its certificate has to have; empty: the URL's host
  bool unverified = false;  // take any certificate
};

struct ClientOptions {
  std::chrono::milliseconds timeout{5'000};  // for everything, from resolving the name on
  std::size_t max_body_bytes = 64 << 20;     // unpacked
  ClientTls tls;
  bool packed = false;  // ask for a packed (gzip) body, which is unpacked on the way
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  std::string body;  // of a POST
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // besides these
  std::string unix_socket;                                   // a path; empty: the URL's host
};

struct ClientResponse {
  int status = 0;
  std::string content_type;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;  // what its Retry-After asks for, from now on
};

// nullopt: an http:// or https:// URL with a host, as http_send() takes it; else what is wrong with it.
std::optional<std::string> url_problem(const std::string& url);
// Without user and password, for people.
std::string without_secrets(const std::string& url);

// To an http:// or https:// URL: no proxy, no redirects. Any status is a response. unavailable where
// the connection is refused, so that nobody listens; timeout; invalid_input for a URL or certificate that is none;
// no_permission where one side does not take the other's certificate; corrupt for a body that is too long; io for every
// other failure.
Result<ClientResponse> http_send(const ClientRequest& request, const ClientOptions& options = {});
Result<ClientResponse> http_get(const std::string& url, const ClientOptions& options = {});

// The same for many questions to one server, over one connection as long as it holds. One thread at a time.
class HttpClient {
 public:
  explicit HttpClient(ClientOptions options);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  Result<ClientResponse> send(const ClientRequest& request);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

// A body that goes on, given to `take` in pieces of any size as they come, until `take` says false or the server ends it:
// then the response without its body. timeout: no connection within `options.timeout`, or nothing came for a minute.
Result<ClientResponse> http_follow(const ClientRequest& request,
                                   const std::function<bool(std::string_view)>& take,
                                   const ClientOptions& options = {});

}  // namespace stoker::net
