#include "os/kmsg.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/kmsg_sources.h"

namespace stoker::os {
namespace {

// A line that begins with a space is a dictionary line of the record before.
std::optional<Result<KmsgRecord>> read_kmsg_line(std::string_view line, std::uint64_t /*offset*/) {
  if (line.empty() || line.front() == ' ') return std::nullopt;
  return parse_kmsg_record(line);
}

std::function<Result<UniqueFd>()> reopens(const Env& env, std::string_view path) {
  return [&env, name = std::string(path)] { return env.open(name, 0); };
}

std::uint64_t size_of(const struct stat& what) { return static_cast<std::uint64_t>(what.st_size); }

}  // namespace

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
  // devices.txt of the Linux source: 1:11. Containers put /dev/null there, which never says anything.
  constexpr unsigned memory_devices = 1;
  constexpr unsigned kmsg_minor = 11;
  if (S_ISCHR(what.st_mode) && what.st_rdev != ::makedev(memory_devices, kmsg_minor)) {
    return fail(ErrorCode::not_supported,
                env.real_path(path) + " is another device than the kernel's log");
  }
  if (S_ISCHR(what.st_mode)) return follow_device(std::move(*fd), start, ::read);
  return follow_file({.fd = std::move(*fd),
                      .reader = read_kmsg_line,
                      .reopen = reopens(env, path),
                      .from = start == KmsgStart::end ? size_of(what) : 0});
}

Result<std::unique_ptr<KmsgFollower>> follow_lines(const Env& env, std::string_view path,
                                                   std::uint64_t from, KmsgLineReader reader) {
  auto fd = env.open(path, O_NONBLOCK);
  if (!fd) return fail(fd.error());
  return follow_file({.fd = std::move(*fd),
                      .reader = std::move(reader),
                      .reopen = reopens(env, path),
                      .from = from});
}

}  // namespace stoker::os
