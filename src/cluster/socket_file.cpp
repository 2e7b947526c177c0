#include "cluster/socket_file.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace stoker::cluster {
namespace {

Error nobody(const std::string& path) {
  return {ErrorCode::unavailable,
          fmt::format("nothing listens on {}: the kubelet is stopped, or starts just now", path)};
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

Result<SocketFile> find_socket(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) == 0) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t made_at = (file.st_mtim.tv_sec * second) + file.st_mtim.tv_nsec;
    if (S_ISSOCK(file.st_mode)) return SocketFile{file.st_dev, file.st_ino, made_at};
    return fail(ErrorCode::unavailable, path + " is no socket");
  }
  const int problem = errno;
  if (problem != ENOENT && problem != ENOTDIR) {
    return fail(Error::from_errno(problem, "look at " + path));
  }
  struct stat folder{};
  if (::stat(folder_of(path).c_str(), &folder) == 0) return fail(nobody(path));
  return fail(ErrorCode::not_found, "there is no kubelet here: no folder for " + path);
}

Result<void> try_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{} is too long for a socket's path: {} bytes at most", path,
                            sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fail(Error::from_errno(errno, "make a socket"));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return {};
  }
  // EAGAIN: its queue is full (unix(7)), so there is somebody.
  if (errno == EAGAIN) return {};
  if (errno == ECONNREFUSED || errno == ENOENT) return fail(nobody(path));
  return fail(Error::from_errno(errno, "connect to " + path));
}

}  // namespace stoker::cluster
