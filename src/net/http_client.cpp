#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace stoker::net {
namespace {

struct Sink {
  std::string body;
  std::size_t limit = 0;
};

std::size_t take_body(char* data, std::size_t /*always 1*/, std::size_t size, void* sink_pointer) {
  auto* sink = static_cast<Sink*>(sink_pointer);
  if (sink->body.size() + size > sink->limit) return 0;  // curl fails with CURLE_WRITE_ERROR
  sink->body.append(data, size);
  return size;
}

ErrorCode code_of(CURLcode code, long system_error) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return ErrorCode::timeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_UNSUPPORTED_PROTOCOL: return ErrorCode::invalid_input;
    case CURLE_PEER_FAILED_VERIFICATION: return ErrorCode::no_permission;
    case CURLE_WRITE_ERROR: return ErrorCode::corrupt;
    case CURLE_COULDNT_CONNECT:
      return system_error == ECONNREFUSED ? ErrorCode::unavailable : ErrorCode::io;
    default: return ErrorCode::io;
  }
}

// curl_global_init is not thread safe, and has to come before the first handle.
bool curl_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

HeaderList headers_of(const ClientRequest& request) {
  HeaderList list(nullptr, &curl_slist_free_all);
  const auto add = [&list](const std::string& name, const std::string& value) {
    curl_slist* const old = list.release();
    curl_slist* const longer = curl_slist_append(old, fmt::format("{}: {}", name, value).c_str());
    list.reset(longer == nullptr ? old : longer);
  };
  if (request.method != "GET") add("Content-Type", request.content_type);
  for (const auto& [name, value] : request.headers) add(name, value);
  return list;
}

// `request` and `headers` must outlive the transfer.
void set_request(CURL* handle, const ClientRequest& request, const HeaderList& headers) {
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  if (!request.unix_socket.empty()) {
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  }
  if (request.method == "GET") return;
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
}

// What every transfer has in common. `request` and `headers` must outlive it.
void set_common(CURL* handle, const ClientRequest& request, const HeaderList& headers) {
  set_request(handle, request, headers);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
}

// `details`: what curl knows beyond the code's own words, which is much where certificates are.
Error failed(CURL* handle, const ClientRequest& request, CURLcode code,
             std::string_view details = {}) {
  long system_error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &system_error);
  const bool of_certificates = code == CURLE_PEER_FAILED_VERIFICATION ||
                               code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE ||
                               code == CURLE_SSL_CONNECT_ERROR;
  return Error(
      code_of(code, system_error),
      fmt::format("{} {}: {}{}{}", request.method, without_secrets(request.url),
                  curl_easy_strerror(code), of_certificates && !details.empty() ? ": " : "",
                  of_certificates ? details : std::string_view()));
}

ClientResponse response_of(CURL* handle, std::string body) {
  long status = 0;
  const char* content_type = nullptr;
  curl_off_t retry_seconds = 0;  // 0: none is asked for
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &content_type);
  curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_seconds);
  ClientResponse response{.status = static_cast<int>(status),
                          .content_type = content_type == nullptr ? "" : content_type,
                          .body = std::move(body),
                          .retry_after = {}};
  if (retry_seconds > 0) response.retry_after = std::chrono::seconds(retry_seconds);
  return response;
}

// `text` must outlive the transfer; an empty one is not set.
void set_blob(CURL* handle, CURLoption option, const std::string& text) {
  if (text.empty()) return;
  curl_blob blob{};
  // curl wants a pointer that it may write to, and with this flag does not.
  blob.data = const_cast<char*>(text.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  blob.len = text.size();
  blob.flags = CURL_BLOB_NOCOPY;
  curl_easy_setopt(handle, option, &blob);
}

// Of a URL as given, the same with `name` in its host's place; empty: it is no URL.
struct NamedUrl {
  std::string url;
  std::string connect_to;  // for CURLOPT_CONNECT_TO
  std::string host;        // for the header Host
};
NamedUrl with_host(const std::string& url, const std::string& name) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return {};
  const auto end = std::min(url.find_first_of("/?#", begin + 3), url.size());
  NamedUrl named;
  named.host = url.substr(begin + 3, end - begin - 3);
  const auto colon = named.host.rfind(':');
  const bool has_port =
      colon != std::string::npos && named.host.find(']', colon) == std::string::npos;
  const std::string port = has_port ? named.host.substr(colon) : std::string();
  named.url = fmt::format("{}{}{}{}", url.substr(0, begin + 3), name, port, url.substr(end));
  // "name:port:to:to's port", of which an empty one is any
  named.connect_to = fmt::format("::{}{}", named.host, has_port ? "" : ":");
  return named;
}

// `tls` must outlive the transfer.
void set_tls(CURL* handle, const ClientTls& tls) {
  set_blob(handle, CURLOPT_CAINFO_BLOB, tls.authorities);
  if (!tls.authorities.empty()) curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);
  set_blob(handle, CURLOPT_SSLCERT_BLOB, tls.certificate);
  set_blob(handle, CURLOPT_SSLKEY_BLOB, tls.key);
  // OpenSSL would ask at the terminal for what a key is locked with.
  curl_easy_setopt(handle, CURLOPT_KEYPASSWD, "");
  if (!tls.unverified) return;
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 0L);
}

using Transfer = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

struct Follower {
  CURL* handle = nullptr;
  const std::function<bool(std::string_view)>* take = nullptr;
  Sink refusal;  // of a status that is no 2xx, the body
  bool stopped = false;
};

std::size_t follow_body(char* data, std::size_t one, std::size_t size, void* follower_pointer) {
  auto* follower = static_cast<Follower*>(follower_pointer);
  long status = 0;
  curl_easy_getinfo(follower->handle, CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 != 2) return take_body(data, one, size, &follower->refusal);
  follower->stopped = !(*follower->take)({data, size});
  return follower->stopped ? 0 : size;
}

}  // namespace

std::optional<std::string> url_problem(const std::string& url) {
  using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;
  const Handle handle(curl_ready() ? curl_url() : nullptr, &curl_url_cleanup);
  if (!handle) return "libcurl could not be started";
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return "it begins with neither http:// nor https://";
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 127)
      return "it has a blank or a control character";
  }
  const CURLUcode code = curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), 0);
  if (code != CURLUE_OK) return curl_url_strerror(code);
  return std::nullopt;
}

std::string without_secrets(const std::string& url) {
  const auto host = url.find("://");
  if (host == std::string::npos) return url;
  const auto begin = host + 3;
  const auto end = std::min(url.find_first_of("/?#", begin), url.size());
  const auto at = url.rfind('@', end);
  if (at == std::string::npos || at < begin || at >= end) return url;
  return url.substr(0, begin) + url.substr(at + 1);
}

struct HttpClient::Connection {
  explicit Connection(ClientOptions given)
      : options(std::move(given)),
        handle(curl_ready() ? curl_easy_init() : nullptr, &curl_easy_cleanup) {}

  ClientOptions options;
  Transfer handle;
  std::array<char, CURL_ERROR_SIZE> details{};
};

HttpClient::HttpClient(ClientOptions options)
    : connection_(std::make_unique<Connection>(std::move(options))) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<ClientResponse> HttpClient::send(const ClientRequest& request) {
  CURL* const handle = connection_->handle.get();
  const ClientOptions& options = connection_->options;
  if (handle == nullptr) return fail(ErrorCode::internal, "libcurl could not be started");
  curl_easy_reset(handle);  // not the connection
  ClientRequest sent = request;
  HeaderList connect_to(nullptr, &curl_slist_free_all);
  if (!options.tls.server_name.empty()) {
    const NamedUrl named = with_host(request.url, options.tls.server_name);
    sent.url = named.url;
    sent.headers.emplace_back("Host", named.host);
    connect_to.reset(curl_slist_append(nullptr, named.connect_to.c_str()));
    curl_easy_setopt(handle, CURLOPT_CONNECT_TO, connect_to.get());
  }
  Sink sink{.body = {}, .limit = options.max_body_bytes};
  const HeaderList headers = headers_of(sent);
  set_common(handle, sent, headers);
  set_tls(handle, options.tls);
  if (options.packed) curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout.count()));
  connection_->details.fill('\0');
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, connection_->details.data());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(handle);
  if (code != CURLE_OK) return fail(failed(handle, request, code, connection_->details.data()));
  return response_of(handle, std::move(sink.body));
}

Result<ClientResponse> http_send(const ClientRequest& request, const ClientOptions& options) {
  return HttpClient(options).send(request);
}

Result<ClientResponse> http_follow(const ClientRequest& request,
                                   const std::function<bool(std::string_view)>& take,
                                   const ClientOptions& options) {
  const Transfer handle(curl_ready() ? curl_easy_init() : nullptr, &curl_easy_cleanup);
  if (!handle) return fail(ErrorCode::internal, "libcurl could not be started");
  Follower follower{.handle = handle.get(),
                    .take = &take,
                    .refusal = {.body = {}, .limit = options.max_body_bytes}};
  const HeaderList headers = headers_of(request);
  set_common(handle.get(), request, headers);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.timeout.count()));
  // Less than a byte a second for a minute: there is not even a comment any more.
  constexpr long silent_seconds = 60;
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_TIME, silent_seconds);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, follow_body);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &follower);
  const CURLcode code = curl_easy_perform(handle.get());
  if (code != CURLE_OK && !follower.stopped) return fail(failed(handle.get(), request, code));
  return response_of(handle.get(), std::move(follower.refusal.body));
}

Result<ClientResponse> http_get(const std::string& url, const ClientOptions& options) {
  return http_send({.url = url}, options);
}

}  // namespace stoker::net
