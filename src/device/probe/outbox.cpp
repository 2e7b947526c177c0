#include "device/probe/outbox.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace stoker::device::probe {
namespace {

// True when the message needs no further care: sent, or the socket will never take it.
bool done_with(int fd, const std::string& bytes) {
  while (true) {
    if (::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
    if (errno == EINTR) continue;
    return errno != EAGAIN && errno != ENOBUFS;
  }
}

}  // namespace

void Outbox::send(std::string message, Keep keep) {
  const MutexLock lock(mutex_);
  if (queue_.empty() && done_with(fd_, message)) return;
  queue_.push_back({std::move(message), keep});
  if (queue_.size() > capacity) make_room();
}

void Outbox::flush() {
  const MutexLock lock(mutex_);
  while (!queue_.empty() && done_with(fd_, queue_.front().bytes)) queue_.pop_front();
}

bool Outbox::waiting() const {
  const MutexLock lock(mutex_);
  return !queue_.empty();
}

void Outbox::make_room() {
  auto oldest = std::find_if(queue_.begin(), queue_.end(),
                             [](const Entry& entry) { return entry.keep == Keep::while_room; });
  // Only what is sent seldom is kept always; should it fill the queue, the oldest of it goes too.
  if (oldest == queue_.end()) oldest = queue_.begin();
  queue_.erase(oldest);
  ++dropped_;
}

}  // namespace stoker::device::probe
