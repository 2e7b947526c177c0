#include "doctor_node.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

namespace stoker::app {
namespace {

doctor::FileFacts facts_of(const struct stat& told) {
  doctor::FileFacts facts;
  using Kind = doctor::FileFacts::Kind;
  facts.kind = S_ISREG(told.st_mode)    ? Kind::file
               : S_ISDIR(told.st_mode)  ? Kind::folder
               : S_ISCHR(told.st_mode)  ? Kind::device
               : S_ISSOCK(told.st_mode) ? Kind::socket
                                        : Kind::other;
  facts.mode = told.st_mode & 07777U;
  facts.major = major(told.st_rdev);
  facts.minor = minor(told.st_rdev);
  facts.bytes = static_cast<std::uint64_t>(std::max<off_t>(told.st_size, 0));
  return facts;
}

class EnvNode final : public doctor::Node {
 public:
  explicit EnvNode(const os::Env& env) : env_(env) {}

  [[nodiscard]] Result<std::string> text(std::string_view path, std::size_t limit) const override {
    return once(texts_, path, [&] { return env_.read_file(path, limit); });
  }

  [[nodiscard]] Result<std::string> tail(std::string_view path, std::size_t bytes) const override {
    const auto fd = env_.open(path, O_NONBLOCK | O_NOCTTY);
    if (!fd) return fail(fd.error());
    struct stat told{};
    if (::fstat(fd->get(), &told) != 0) {
      return fail(Error::from_errno(errno, "stat " + env_.real_path(path)));
    }
    if (!S_ISREG(told.st_mode)) {
      return fail(ErrorCode::io, env_.real_path(path) + " is no regular file");
    }
    const auto size = static_cast<std::size_t>(std::max<off_t>(told.st_size, 0));
    std::string end(std::min(size, bytes), '\0');
    const ssize_t got =
        ::pread(fd->get(), end.data(), end.size(), static_cast<off_t>(size - end.size()));
    if (got < 0) return fail(Error::from_errno(errno, "read " + env_.real_path(path)));
    end.resize(static_cast<std::size_t>(got));
    return end;
  }

  [[nodiscard]] Result<std::vector<std::string>> names(std::string_view folder) const override {
    return once(folders_, folder, [&] { return env_.list_folder(folder); });
  }

  [[nodiscard]] Result<std::string> link(std::string_view path) const override {
    return env_.read_link(path);
  }

  [[nodiscard]] Result<doctor::FileFacts> facts(std::string_view path) const override {
    const auto fd = env_.open(path, O_PATH);
    if (!fd) return fail(fd.error());
    struct stat told{};
    if (::fstat(fd->get(), &told) != 0) {
      return fail(Error::from_errno(errno, "stat " + env_.real_path(path)));
    }
    return facts_of(told);
  }

  [[nodiscard]] Result<doctor::DiskUse> disk(std::string_view path) const override {
    const auto use = env_.filesystem(path);
    if (!use) return fail(use.error());
    return doctor::DiskUse{.total_bytes = use->total_bytes, .free_bytes = use->free_bytes};
  }

 private:
  template <typename T, typename Read>
  static Result<T> once(std::map<std::string, Result<T>, std::less<>>& known, std::string_view path,
                        Read read) {
    const auto found = known.find(path);
    if (found != known.end()) return found->second;
    return known.emplace(path, read()).first->second;
  }

  const os::Env& env_;
  mutable std::map<std::string, Result<std::string>, std::less<>> texts_;
  mutable std::map<std::string, Result<std::vector<std::string>>, std::less<>> folders_;
};

}  // namespace

std::unique_ptr<doctor::Node> make_doctor_node(const os::Env& env) {
  return std::make_unique<EnvNode>(env);
}

}  // namespace stoker::app
