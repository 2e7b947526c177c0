#include "device/probe/packet.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "device/probe/protocol.h"

namespace stoker::device::probe {
namespace {

// A peer that closed with unread packets in its queue resets the socket; that is its end too.
bool is_end(int error) { return error == ECONNRESET || error == EPIPE; }

}  // namespace

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
    if (is_end(errno)) return std::string();
    return fail(Error::from_errno(errno, "receive from the probe's socket"));
  }
}

// Not cleared: what no packet fills takes no memory.
Inbox::Inbox() : memory_(std::make_unique_for_overwrite<char[]>(most * max_message_bytes)) {}

Result<std::vector<std::string_view>> Inbox::receive(int fd) {
  std::array<iovec, most> parts{};
  std::array<mmsghdr, most> packets{};
  for (std::size_t at = 0; at < most; ++at) {
    parts[at] = {memory_.get() + at * max_message_bytes, max_message_bytes};
    packets[at].msg_hdr.msg_iov = &parts[at];
    packets[at].msg_hdr.msg_iovlen = 1;
  }
  int count = -1;
  do {
    count = recvmmsg(fd, packets.data(), most, MSG_DONTWAIT, nullptr);
  } while (count < 0 && errno == EINTR);
  std::vector<std::string_view> all;
  if (count < 0 && errno == EAGAIN) return all;
  if (count < 0 && is_end(errno)) return std::vector<std::string_view>(1);
  if (count < 0) return fail(Error::from_errno(errno, "receive from the probe's socket"));
  for (int at = 0; at < count; ++at) {
    const mmsghdr& packet = packets[static_cast<std::size_t>(at)];
    if ((packet.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      return fail(ErrorCode::corrupt, "a packet is longer than any message");
    }
    all.emplace_back(static_cast<const char*>(packet.msg_hdr.msg_iov->iov_base), packet.msg_len);
    if (packet.msg_len == 0) break;
  }
  return all;
}

}  // namespace stoker::device::probe
