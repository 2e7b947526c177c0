// Machine stage: everything that touches the machine goes through one Env. Tests and simulated nodes
// give it a folder instead of "/".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::os {

struct FilesystemUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // what an unprivileged writer can still have
};

// PID_MAX_LIMIT of 64-bit machines, include/linux/threads.h: every real pid is below. A simulated node
// has processes above, which nobody can mistake for the machine's.
inline constexpr std::uint32_t pid_max_limit = 4'194'304;

// A node has two roots: the host's own (/proc/stat, /proc/meminfo, /dev/shm) and the devices' (PCI,
// InfiniBand, /proc/driver/nvidia, /dev/kmsg, the journal, syslog and pstore, processes above pid_max_limit). They
// differ only on a simulated node, whose host is real and whose devices are not.
class Env {
 public:
  virtual ~Env() = default;
  [[nodiscard]] virtual const Clock& clock() const = 0;

  // Paths are absolute ("/proc/meminfo"); the Env puts its root in front. Whole content, at most
  // `limit` bytes (more is an error: corrupt). Of regular files alone, and never waits: a FIFO, a
  // socket, a device or a folder in place of the file is an error.
  [[nodiscard]] virtual Result<std::string> read_file(std::string_view path,
                                                      std::size_t limit = 1 << 20) const = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> list_folder(
      std::string_view path) const = 0;
  [[nodiscard]] virtual Result<std::string> read_link(std::string_view path) const = 0;
  [[nodiscard]] virtual bool exists(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<FilesystemUse> filesystem(std::string_view path) const = 0;
  // Of a folder of this process's own (its data, its cache): `path` as the process itself sees it,
  // below no root.
  [[nodiscard]] virtual Result<FilesystemUse> own_filesystem(const std::string& path) const = 0;
  [[nodiscard]] virtual std::string hostname() const = 0;
  // Opens for reading (close-on-exec) with further open(2) `flags`, e.g. O_NONBLOCK.
  [[nodiscard]] virtual Result<UniqueFd> open(std::string_view path, int flags = 0) const = 0;
  // Where `path` lies below its root, for messages. Open through open(): only that keeps symbolic
  // links inside the root.
  [[nodiscard]] virtual std::string real_path(std::string_view path) const = 0;
};

}  // namespace stoker::os
