// Edge: the HTTP server. Only this folder sees Asio and Beast; the rest speaks Request and Response.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::net {

struct Request {
  std::string method;  // "GET"
  std::string path;    // "/api/v1/gpus", decoded, without the query
  std::string query;   // "gpu=0&since=1h", as sent
  std::string accept;
  std::string accept_encoding;
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;  // compressed by the server where the client asks for gzip
};

// Runs in the server's thread; must not block. May be called while others run only if threads > 1.
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  std::string listen = "127.0.0.1:9400";  // "host:port", "[::1]:port"; port 0: any free one
  std::size_t max_connections = 256;      // more are answered 503 and closed
  std::size_t max_body_bytes = 1 << 20;
  std::chrono::milliseconds idle_timeout{10'000};
};

class HttpServer {
 public:
  // Binds and serves in its own thread until destroyed. unavailable with what to do if the address is
  // taken.
  static Result<std::unique_ptr<HttpServer>> start(ServerOptions options, Handler handler);
  virtual ~HttpServer() = default;
  // "127.0.0.1:9400" as bound, with the real port.
  [[nodiscard]] virtual std::string address() const = 0;
};

}  // namespace stoker::net
