// Ground stage: how a thread that waits in poll(2) is woken by another one.
#pragma once

#include <sys/eventfd.h>

#include "base/unique_fd.h"

namespace stoker {

// Once woken it stays so until clear(). Where there is no descriptor left its fd() is -1, which poll(2) passes over:
// then nobody is woken before the time is up.
class Waker {
 public:
  Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  // Readable once it was woken.
  [[nodiscard]] int fd() const { return fd_.get(); }
  void wake() const { ::eventfd_write(fd_.get(), 1); }
  void clear() const {
    eventfd_t count = 0;
    ::eventfd_read(fd_.get(), &count);
  }

 private:
  UniqueFd fd_;
};

}  // namespace stoker
