// Edge: the HTTP server. Only this folder sees Asio and Beast; the rest speaks Request and Response.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/event_stream.h"

namespace stoker::net {

struct Request {
  std::string method;  // "GET"; HEAD arrives here as GET, and the server leaves the body out
  std::string path;    // "/api/v1/gpus", decoded, without the query
  std::string query;   // "gpu=0&since=1h", as sent
  std::string accept;
  std::string last_event_id;  // of who listens to events again; empty: to none before
  std::string body;
  // User id of who asks, where it came through a Unix socket; else nobody knows who it is.
  std::optional<std::uint32_t> local_user;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;  // compressed by the server where the client asks for gzip
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of the server
  // Set: the body is what is written here, until it is ended or the peer leaves. A comment goes out when nothing else
  // does; a peer that takes nothing is let go.
  std::shared_ptr<EventStream> stream;
};

// Runs in the server's one thread, one call at a time; must not block.
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  std::string listen = "127.0.0.1:9400";  // base/host_port.h; port 0: any free one
  std::size_t max_connections = 256;      // of a door; more are answered 503 and closed
  // Paths that are answered then too: who asks whether this lives must not be told by another's crowd that it does not.
  std::vector<std::string> always;
  std::size_t max_header_bytes = 16 << 10;
  std::size_t max_body_bytes = 1 << 20;
  // A whole request has to arrive, and a whole response has to be taken, within this time.
  std::chrono::milliseconds request_timeout{10'000};
  // How long a connection may wait for its next request. Longer than Prometheus' usual interval of
  // 15 to 60 s, so that a scrape finds its connection again.
  std::chrono::milliseconds idle_timeout{75'000};
  // Of streams: how long nothing is sent before a comment is. Proxies drop what is silent; the specification of
  // server-sent events advises some 15 s.
  std::chrono::milliseconds comment_every{15'000};
};

// The server itself answers 400, 413, 431, 500 and 503, in plain words; a peer that lets its time
// pass is disconnected.
class HttpServer {
 public:
  // Takes the address; connections wait until serve(). No thread exists yet. invalid_input for an
  // address that is none, unavailable with what to do if it is taken, no_permission for a port that
  // needs root.
  static Result<std::unique_ptr<HttpServer>> bind(ServerOptions options);
  // A second door, for this process's user and root alone: the file is made anew with mode 0600, and removed at the
  // end. Before serve(), once. invalid_input where the path is too long (unix(7): 107 bytes).
  virtual Result<void> also_listen_on(const std::string& path) = 0;
  // Serves in a thread of its own until destroyed, which takes less than a second. Once.
  virtual void serve(Handler handler) = 0;
  virtual ~HttpServer() = default;
  // "127.0.0.1:9400" as bound, with the real port.
  [[nodiscard]] virtual std::string address() const = 0;
};

}  // namespace stoker::net
