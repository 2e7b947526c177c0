#include "data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

namespace stoker::app {
namespace {

std::string holder_of(int fd) {
  std::array<char, 32> text{};
  const auto length = ::pread(fd, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  pid.erase(pid.find_last_not_of(" \n") + 1);
  return pid.empty() ? "unknown" : pid;
}

std::string lock_of(const std::string& folder) { return folder + "/agent.lock"; }

bool is_same_file(int fd, const std::string& file) {
  struct stat held{};
  struct stat there{};
  return ::fstat(fd, &held) == 0 && ::stat(file.c_str(), &there) == 0 && held.st_nlink > 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

}  // namespace

Result<void> DataFolder::still_ours() const {
  if (is_same_file(lock_.get(), lock_of(path_))) return {};
  return fail(
      ErrorCode::unavailable,
      fmt::format("the data folder {} was removed while this agent used it; restart the agent",
                  path_));
}

Result<DataFolder> DataFolder::take(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (!error) std::filesystem::create_directories(absolute, error);
  if (error) {
    return fail(
        Error(error == std::errc::permission_denied ? ErrorCode::no_permission : ErrorCode::io,
              fmt::format("the data folder {} can't be made: {}; choose another with --data DIR",
                          path, error.message())));
  }
  const std::string file = lock_of(absolute.string());
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) {
    return fail(Error(ErrorCode::no_permission, "choose another data folder with --data DIR")
                    .caused_by(Error::from_errno(errno, "open " + file)));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail(Error::from_errno(errno, "lock " + file));
    return fail(
        ErrorCode::unavailable,
        fmt::format("another agent (pid {}) uses the data folder {}; stop it, or choose another "
                    "folder with --data DIR",
                    holder_of(fd.get()), absolute.string()));
  }
  if (!is_same_file(fd.get(), file)) {
    return fail(ErrorCode::unavailable,
                fmt::format("the data folder {} was removed in this moment; try again", path));
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return fail(Error::from_errno(errno, "write " + file));
  }
  return DataFolder(absolute.string(), std::move(fd));
}

}  // namespace stoker::app
