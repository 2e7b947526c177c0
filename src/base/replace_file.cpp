#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/unique_fd.h"

namespace stoker {
namespace {

// The name is on disk when the folder is.
void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) fsync(fd.get());
}

}  // namespace

Result<void> replace_file(const std::string& path,
                          const std::function<Result<void>(int fd, const std::string& name)>& write,
                          mode_t mode) {
  const std::string beside = path + ".new";
  unlink(beside.c_str());  // of a process that was killed while it wrote; or a pipe, to wait for
  const UniqueFd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd.valid()) return fail(Error::from_errno(errno, "open " + beside));
  if (auto done = write(fd.get(), beside); !done) {
    unlink(beside.c_str());
    return done;
  }
  if (fsync(fd.get()) != 0 || std::rename(beside.c_str(), path.c_str()) != 0) {
    auto error = Error::from_errno(errno, "put " + path + " in place");
    unlink(beside.c_str());
    return fail(std::move(error));
  }
  sync_folder_of(path);
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(Error::from_errno(errno, "remove " + path));
  }
  sync_folder_of(path);
  return {};
}

}  // namespace stoker
