#include "os/system_env.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <utility>

#include "os/rooted.h"

namespace stoker::os {
namespace {

// What belongs to the devices and not to the host. A name that ends in '*' is the start of a name,
// any other is a file or folder.
constexpr auto device_paths = std::to_array<std::string_view>(
    {"/proc/driver", "/sys/bus/pci", "/sys/class/infiniband", "/dev/kmsg", "/dev/nvidia*",
     "/sys/fs/pstore", "/var/lib/systemd/pstore", "/var/log/journal", "/run/log/journal",
     "/var/log/kern.log", "/var/log/messages", "/var/log/syslog"});

// A process that exists on a simulated node alone.
bool is_simulated_process(std::string_view path) {
  constexpr std::string_view proc = "/proc/";
  if (!path.starts_with(proc)) return false;
  path.remove_prefix(proc.size());
  std::uint32_t pid = 0;
  const auto [end, code] = std::from_chars(path.data(), path.data() + path.size(), pid);
  if (code != std::errc{} || pid <= pid_max_limit) return false;
  return end == path.data() + path.size() || *end == '/';
}

bool lies_in(std::string_view path, std::string_view place) {
  if (place.ends_with('*')) return path.starts_with(place.substr(0, place.size() - 1));
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

FilesystemUse use_of(const struct statvfs& told) {
  return {.total_bytes = std::uint64_t{told.f_blocks} * told.f_frsize,
          .free_bytes = std::uint64_t{told.f_bavail} * told.f_frsize};
}

class SystemEnv final : public Env {
 public:
  SystemEnv(std::string host_root, std::string device_root)
      : host_root_(std::move(host_root)), device_root_(std::move(device_root)) {}

  [[nodiscard]] const Clock& clock() const override { return system_clock(); }

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit) const override {
    // A FIFO in place of a file would hold whoever opens it until somebody writes.
    auto fd = open(path, O_NONBLOCK | O_NOCTTY);
    if (!fd) return fail(fd.error());
    struct stat told{};
    if (::fstat(fd->get(), &told) != 0) {
      return fail(Error::from_errno(errno, "stat " + real_path(path)));
    }
    if (!S_ISREG(told.st_mode)) return fail(ErrorCode::io, real_path(path) + " is no regular file");
    std::string content;
    while (true) {
      std::array<char, 16384> chunk;
      const ssize_t got = ::read(fd->get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(Error::from_errno(errno, "read " + real_path(path)));
      if (got == 0) return content;
      content.append(chunk.data(), static_cast<std::size_t>(got));
      if (content.size() > limit) {
        return fail(ErrorCode::corrupt,
                    real_path(path) + " is longer than " + std::to_string(limit) + " bytes");
      }
    }
  }

  [[nodiscard]] Result<std::vector<std::string>> list_folder(std::string_view path) const override {
    auto fd = open(path, O_DIRECTORY);
    // What stands there and is no folder is not the same as nothing.
    if (!fd && fd.error().code() == ErrorCode::not_found && exists(path)) {
      return fail(ErrorCode::io, real_path(path) + " is no folder");
    }
    if (!fd) return fail(fd.error());
    DIR* folder = ::fdopendir(fd->get());
    if (folder == nullptr) return fail(Error::from_errno(errno, "list " + real_path(path)));
    (void)fd->release();  // closedir closes it
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe)
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int problem = errno;
    ::closedir(folder);
    if (problem != 0) return fail(Error::from_errno(problem, "list " + real_path(path)));
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    auto fd = open_below(root_of(path), path, O_PATH | O_NOFOLLOW);
    if (!fd) return fail(fd.error());
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(fd->get(), "", target.data(), target.size());
    if (length < 0) return fail(Error::from_errno(errno, "read link " + real_path(path)));
    return std::string(target.data(), static_cast<std::size_t>(length));
  }

  [[nodiscard]] bool exists(std::string_view path) const override {
    return open_below(root_of(path), path, O_PATH).has_value();
  }

  [[nodiscard]] Result<FilesystemUse> filesystem(std::string_view path) const override {
    auto fd = open_below(root_of(path), path, O_PATH);
    if (!fd) return fail(fd.error());
    struct statvfs use{};
    if (::fstatvfs(fd->get(), &use) != 0) {
      return fail(Error::from_errno(errno, "statvfs " + real_path(path)));
    }
    return use_of(use);
  }

  [[nodiscard]] Result<FilesystemUse> own_filesystem(const std::string& path) const override {
    struct statvfs use{};
    if (::statvfs(path.c_str(), &use) != 0)
      return fail(Error::from_errno(errno, "statvfs " + path));
    return use_of(use);
  }

  [[nodiscard]] std::string hostname() const override {
    std::array<char, HOST_NAME_MAX + 1> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
  }

  [[nodiscard]] Result<UniqueFd> open(std::string_view path, int flags) const override {
    return open_below(root_of(path), path, O_RDONLY | flags);
  }

  [[nodiscard]] std::string real_path(std::string_view path) const override {
    return join_below(root_of(path), path);
  }

 private:
  // By the name alone, "." and ".." resolved: a link can't lead from one root into the other.
  [[nodiscard]] const std::string& root_of(std::string_view path) const {
    const std::string plain = join_below("/", path);
    const bool device = is_simulated_process(plain) ||
                        std::any_of(device_paths.begin(), device_paths.end(),
                                    [&](std::string_view place) { return lies_in(plain, place); });
    return device ? device_root_ : host_root_;
  }

  const std::string host_root_;
  const std::string device_root_;
};

}  // namespace

std::unique_ptr<Env> make_system_env(std::string host_root, std::string device_root) {
  return std::make_unique<SystemEnv>(std::move(host_root), std::move(device_root));
}

}  // namespace stoker::os
