// Composition: a while in a namespace of another process (setns(2)).
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::app {

// This thread alone is in it, until the end of this object.
class OtherNamespace {
 public:
  // `other`: of /proc/PID/ns; none: it stays where it is. `ours`: this thread's own, as "/proc/thread-self/ns/net". `kind`:
  // as setns(2) has it, CLONE_NEWNET.
  OtherNamespace(const UniqueFd& other, const char* ours, int kind);
  ~OtherNamespace();
  OtherNamespace(const OtherNamespace&) = delete;
  OtherNamespace& operator=(const OtherNamespace&) = delete;
  // no_permission: it may not be entered.
  [[nodiscard]] const Result<void>& entered() const { return entered_; }

 private:
  int kind_;
  UniqueFd ours_;
  Result<void> entered_;
};

}  // namespace stoker::app
