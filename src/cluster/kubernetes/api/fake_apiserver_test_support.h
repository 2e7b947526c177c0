// Test support: an apiserver of a few lines: every request is answered by a function. It sees the whole head of a
// request, as the project's own server does not show it.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace stoker::kubernetes {

struct FakeAnswer {
  int status = 200;
  std::string body = "{}";
  std::string headers;  // lines with "\r\n" behind each
};

class FakeApiserver {
 public:
  // `answer` gets the path with its query, and the request's head.
  using Answerer = std::function<FakeAnswer(const std::string& path, const std::string& head)>;

  explicit FakeApiserver(Answerer answer)
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), generic, size) != 0 || ::listen(socket_.get(), 16) != 0 ||
        ::getsockname(socket_.get(), generic, &size) != 0)
      std::abort();
    url_ = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  [[nodiscard]] const std::string& url() const { return url_; }
  // The paths that were asked for so far.
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 10) <= 0) continue;
      const UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (peer.get() >= 0) answer_one(peer.get());
    }
  }

  void answer_one(int peer) {
    std::string head;
    std::array<char, 4096> piece{};
    while (head.find("\r\n\r\n") == std::string::npos) {
      const auto got = ::recv(peer, piece.data(), piece.size(), 0);
      if (got <= 0) return;
      head.append(piece.data(), static_cast<std::size_t>(got));
    }
    const auto begin = head.find(' ') + 1;
    const auto path = head.substr(begin, head.find(' ', begin) - begin);
    {
      const std::scoped_lock lock(mutex_);
      asked_.push_back(path);
    }
    const FakeAnswer answer = answer_(path, head);
    const auto text = fmt::format(
        "HTTP/1.1 {} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}Connection: "
        "close\r\n\r\n{}",
        answer.status, answer.body.size(), answer.headers, answer.body);
    for (std::size_t sent = 0; sent < text.size();) {
      const auto more = ::send(peer, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return;
      sent += static_cast<std::size_t>(more);
    }
  }

  Answerer answer_;
  UniqueFd socket_;
  std::string url_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace stoker::kubernetes
