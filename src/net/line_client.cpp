#include "net/line_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace stoker::net {
namespace {

using LineClock = std::chrono::steady_clock;

// Until `fd` is ready for `events`, or the deadline.
Result<void> wait_for(int fd, short events, LineClock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - LineClock::now());
    if (left.count() <= 0) return fail(ErrorCode::timeout, "no answer in time");
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(Error::from_errno(errno, "poll"));
  }
}

Result<UniqueFd> connect_one(const addrinfo& to, LineClock::time_point deadline) {
  UniqueFd fd(
      ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol));
  if (!fd.valid()) return fail(Error::from_errno(errno, "socket"));
  if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS)
    return fail(ErrorCode::unavailable, Error::from_errno(errno, "connect").message());
  if (const auto ready = wait_for(fd.get(), POLLOUT, deadline); !ready) return fail(ready.error());
  int problem = 0;
  socklen_t size = sizeof problem;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
  if (problem != 0)
    return fail(ErrorCode::unavailable, Error::from_errno(problem, "connect").message());
  return fd;
}

}  // namespace

Result<LineClient> LineClient::connect(const HostPort& address, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (code != 0)
    return fail(ErrorCode::unavailable, fmt::format("{}: {}", address.host, ::gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Error last(ErrorCode::unavailable, "no address");
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    auto fd = connect_one(*each, deadline);
    if (fd) return LineClient(*std::move(fd), deadline);
    last = fd.error();
  }
  return fail(last);
}

Result<void> LineClient::send(std::string_view text) {
  while (!text.empty()) {
    if (const auto ready = wait_for(fd_.get(), POLLOUT, deadline_); !ready) return ready;
    const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return fail(ErrorCode::unavailable, Error::from_errno(errno, "send").message());
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<bool> LineClient::receive() {
  std::array<char, 65536> buffer{};
  while (true) {
    if (const auto ready = wait_for(fd_.get(), POLLIN, deadline_); !ready)
      return fail(ready.error());
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail(ErrorCode::unavailable, Error::from_errno(errno, "receive").message());
    held_.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
  }
}

Result<std::string> LineClient::read_line() {
  constexpr std::size_t longest = 65536;
  while (true) {
    if (const auto end = held_.find('\n'); end != std::string::npos) {
      std::string line = held_.substr(0, end);
      held_.erase(0, end + 1);
      return line;
    }
    if (held_.size() > longest) return fail(ErrorCode::corrupt, "the answer has no line break");
    const auto more = receive();
    if (!more) return fail(more.error());
    if (!*more) return fail(ErrorCode::unavailable, "the other side closed the connection");
  }
}

Result<std::string> LineClient::read_all(std::size_t most) {
  while (held_.size() <= most) {
    const auto more = receive();
    if (!more) return fail(more.error());
    if (!*more) return std::move(held_);
  }
  return fail(ErrorCode::corrupt, "the answer is too long");
}

}  // namespace stoker::net
