#include "device/probe/packet.h"

#include <sys/socket.h>

#include <cerrno>

#include "device/probe/protocol.h"

namespace stoker::device::probe {

Result<std::string> receive_packet(int fd, Wait wait) {
  thread_local std::string buffer(max_message_bytes, '\0');
  while (true) {
    const int flags = MSG_TRUNC | (wait == Wait::no ? MSG_DONTWAIT : 0);
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), flags);
    if (size >= 0 && static_cast<std::size_t>(size) > buffer.size()) {
      return fail(ErrorCode::corrupt, "a packet is longer than any message");
    }
    if (size >= 0) return std::string(buffer.data(), static_cast<std::size_t>(size));
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return fail(ErrorCode::timeout, "no packet yet");
    // A peer that closed with unread packets in its queue resets the socket; that is its end too.
    if (errno == ECONNRESET || errno == EPIPE) return std::string();
    return fail(Error::from_errno(errno, "receive from the probe's socket"));
  }
}

}  // namespace stoker::device::probe
