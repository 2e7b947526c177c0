// Edge: one conversation by lines of text over TCP, as NCCL's RAS port speaks it. Blocking, with one deadline for all of it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/host_port.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::net {

class LineClient {
 public:
  // Everything below ends by `timeout` from now. unavailable: nobody listens there, or the name is not known; timeout.
  static Result<LineClient> connect(const HostPort& address, std::chrono::milliseconds timeout);

  // unavailable: the other side closed; timeout.
  Result<void> send(std::string_view text);
  // The next line without its line break. unavailable where the other side closed before one came.
  Result<std::string> read_line();
  // All that comes until the other side closes, at most `most` bytes; corrupt where more comes.
  Result<std::string> read_all(std::size_t most);

 private:
  using Clock = std::chrono::steady_clock;
  LineClient(UniqueFd fd, Clock::time_point deadline) : fd_(std::move(fd)), deadline_(deadline) {}
  // More bytes into held_; false at the end.
  Result<bool> receive();

  UniqueFd fd_;
  Clock::time_point deadline_;
  std::string held_;
};

}  // namespace stoker::net
