// Test support: a server in one call, and a TCP client that sends exactly what a test says, and reads what comes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "net/http_server.h"

namespace stoker::net {

// Binds and serves.
inline Result<std::unique_ptr<HttpServer>> start(ServerOptions options, Handler handler) {
  auto server = HttpServer::bind(std::move(options));
  if (server) (*server)->serve(std::move(handler));
  return server;
}

class RawClient {
 public:
  // To "127.0.0.1:PORT".
  explicit RawClient(const std::string& address)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(
        static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  [[nodiscard]] bool connected() const { return connected_; }

  // False once the peer has gone.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const auto sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  void finish_sending() { ::shutdown(fd_.get(), SHUT_WR); }

  // Everything until the peer closes or `limit` has passed; what is missing shows in the test.
  std::string read_to_end(std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    return read_until([](const std::string&) { return false; }, limit);
  }

  // One response with its Content-Length.
  std::string read_response(std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    return read_until(
        [](const std::string& text) {
          const auto end = text.find("\r\n\r\n");
          const auto length = text.find("Content-Length: ");
          if (end == std::string::npos || length == std::string::npos) return false;
          return text.size() >=
                 end + 4 + static_cast<std::size_t>(std::atoi(text.c_str() + length + 16));
        },
        limit);
  }

  // Until `text` has come; with a limit for a machine that is very busy.
  std::string read_until_has(std::string_view text,
                             std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    return read_until(
        [text](const std::string& got) { return got.find(text) != std::string::npos; }, limit);
  }

  [[nodiscard]] bool closed_by_peer() const { return closed_; }

 private:
  template <typename Done>
  std::string read_until(Done done, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::string text;
    while (!done(text)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      pollfd waiting{fd_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
      char chunk[4096];
      const auto got = ::recv(fd_.get(), chunk, sizeof chunk, 0);
      if (got <= 0) {
        closed_ = true;
        break;
      }
      text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
  }

  UniqueFd fd_;
  bool connected_ = false;
  bool closed_ = false;
};

}  // namespace stoker::net
