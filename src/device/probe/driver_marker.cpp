#include "device/probe/driver_marker.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace stoker::device::probe {

std::string driver_identity(const std::string& path) {
  struct stat info{};
  struct statfs system{};
  if (stat(path.c_str(), &info) != 0 || statfs(path.c_str(), &system) != 0) return {};
  if (system.f_type == SYSFS_MAGIC) return fmt::format("{}", info.st_ino);
  return fmt::format("{}@{}.{:09}", info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace stoker::device::probe
