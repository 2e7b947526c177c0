#include "os/kmsg.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/kmsg_sources.h"

namespace stoker::os {

Result<std::unique_ptr<KmsgFollower>> follow_kmsg(const Env& env, KmsgStart start,
                                                  std::string_view path) {
  auto fd = env.open(path, O_NONBLOCK);
  if (!fd && fd.error().code() == ErrorCode::no_permission) {
    return fail(Error(ErrorCode::no_permission,
                      "the kernel log " + env.real_path(path) +
                          " needs root, or CAP_SYSLOG where kernel.dmesg_restrict is 1")
                    .caused_by(fd.error()));
  }
  if (!fd) return fail(fd.error());
  struct stat what{};
  if (::fstat(fd->get(), &what) != 0) {
    return fail(Error::from_errno(errno, "stat " + env.real_path(path)));
  }
  if (S_ISCHR(what.st_mode)) return follow_device(std::move(*fd), start, ::read);
  return follow_file(std::move(*fd), start,
                     [&env, name = std::string(path)] { return env.open(name, 0); });
}

}  // namespace stoker::os
