#include "device/probe/outbox.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/log.h"

namespace stoker::device::probe {
void Outbox::send(std::string message, Urgency urgency) {
  const MutexLock lock(mutex_);
  queue_.push_back({std::move(message), urgency});
  if (urgency == Urgency::now) send_waiting();
  if (queue_.size() > capacity) make_room();
}

void Outbox::flush() {
  const MutexLock lock(mutex_);
  send_waiting();
}

void Outbox::send_waiting() {
  constexpr std::size_t most = 32;  // messages a system call
  while (!queue_.empty()) {
    std::array<iovec, most> parts{};
    std::array<mmsghdr, most> packets{};
    const std::size_t count = std::min(most, queue_.size());
    for (std::size_t at = 0; at < count; ++at) {
      parts[at] = {queue_[at].bytes.data(), queue_[at].bytes.size()};
      packets[at].msg_hdr.msg_iov = &parts[at];
      packets[at].msg_hdr.msg_iovlen = 1;
    }
    const int sent =
        sendmmsg(fd_, packets.data(), static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
    // What the socket will never take goes as well: a message that is too long is one that is lost, and
    // the first to be said so; of an agent that is gone, nobody counts.
    if (sent < 0 && errno == EMSGSIZE) {
      ++dropped_;
      log::error("probe_message_too_long",
                 {{"bytes", std::to_string(queue_.front().bytes.size())}});
    }
    const auto done = std::max(sent, 1);
    queue_.erase(queue_.begin(), queue_.begin() + done);
  }
}

bool Outbox::waiting() const {
  const MutexLock lock(mutex_);
  return !queue_.empty();
}

void Outbox::make_room() {
  auto oldest = std::find_if(queue_.begin(), queue_.end(),
                             [](const Entry& entry) { return entry.urgency == Urgency::soon; });
  // Only what is sent seldom is urgent; should it fill the queue, the oldest of it goes too.
  if (oldest == queue_.end()) oldest = queue_.begin();
  queue_.erase(oldest);
  ++dropped_;
}

}  // namespace stoker::device::probe
