#include "fabric/subnet/quiet.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "model/wrap.h"

namespace stoker::fabric {

QuietStandardError::QuietStandardError() {
  std::fflush(stderr);
  kept_ = UniqueFd(::memfd_create("stderr", MFD_CLOEXEC));
  real_ = UniqueFd(::dup(STDERR_FILENO));
  if (kept_.valid() && real_.valid()) ::dup2(kept_.get(), STDERR_FILENO);
}

std::string QuietStandardError::restore() {
  if (!kept_.valid() || !real_.valid()) return "";
  std::fflush(stderr);
  ::dup2(real_.get(), STDERR_FILENO);
  std::array<char, 512> text{};
  const ssize_t length = ::pread(kept_.get(), text.data(), text.size(), 0);
  kept_ = {};
  real_ = {};
  if (length <= 0) return "";
  std::string line = printable({text.data(), static_cast<std::size_t>(length)});
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace stoker::fabric
