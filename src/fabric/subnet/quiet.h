// Subnet edge: libibnetdisc and libibmad print what goes wrong on standard error, between the lines of a program that is
// telling something itself. While this lives, it is kept instead.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace stoker::fabric {

// For a program of one thread, or one whose other threads can spare standard error for a while.
class QuietStandardError {
 public:
  QuietStandardError();
  QuietStandardError(const QuietStandardError&) = delete;
  QuietStandardError& operator=(const QuietStandardError&) = delete;
  ~QuietStandardError() { restore(); }

  // Gives standard error back; the first lines of what was printed on it, as one line.
  std::string restore();

 private:
  UniqueFd kept_;
  UniqueFd real_;
};

}  // namespace stoker::fabric
