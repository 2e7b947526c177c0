#include "device/simnode/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/unique_fd.h"
#include "base/write_all.h"

namespace stoker::simnode {
namespace {

namespace fs = std::filesystem;

Result<void> make_folders(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return fail(Error::from_errno(code.value(), "make folder " + folder.string()));
  return {};
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view content) {
  if (auto made = make_folders(fs::path(path).parent_path()); !made) return made;
  const std::string fresh = path + ".new";
  const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail(Error::from_errno(errno, "write " + fresh));
  if (auto written = write_all(fd.get(), content, fresh); !written) return written;
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail(Error::from_errno(errno, "rename " + fresh + " to " + path));
  }
  return {};
}

Result<void> make_link(const std::string& target, const std::string& path) {
  if (auto made = make_folders(fs::path(path).parent_path()); !made) return made;
  if (::symlink(target.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    return fail(Error::from_errno(errno, "link " + path));
  }
  return {};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Error::from_errno(errno == 0 ? EIO : errno, "read " + path));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Result<void> move_aside(const std::string& from, const std::string& to) {
  if (!exists(from)) return {};
  if (auto made = make_folders(fs::path(to).parent_path()); !made) return made;
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return fail(Error::from_errno(errno, "rename " + from + " to " + to));
  }
  return {};
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  std::string full = fs::absolute(path, ignored).lexically_normal().string();
  while (full.size() > 1 && full.ends_with('/')) full.pop_back();
  return full;
}

}  // namespace stoker::simnode
