#include "other_namespace.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <utility>

namespace stoker::app {

OtherNamespace::OtherNamespace(const UniqueFd& other, const char* ours, int kind) : kind_(kind) {
  if (!other.valid()) return;
  UniqueFd back(::open(ours, O_RDONLY | O_CLOEXEC));
  if (!back.valid() || ::setns(other.get(), kind) != 0)
    entered_ = fail(Error::from_errno(errno, "enter its namespace"));
  else
    ours_ = std::move(back);
}

OtherNamespace::~OtherNamespace() {
  if (ours_.valid()) static_cast<void>(::setns(ours_.get(), kind_));
}

}  // namespace stoker::app
