#include "os/rooted.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <vector>

namespace stoker::os {
namespace {

constexpr int max_links = 40;  // MAXSYMLINKS, include/linux/namei.h

// Puts the parts of `path` in front of `parts`.
void push_parts(std::deque<std::string>& parts, std::string_view path) {
  std::vector<std::string> found;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0 && path.substr(0, end) != ".") found.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  parts.insert(parts.begin(), found.begin(), found.end());
}

// Walks from folder to folder; `trail` holds the open folders from the root down.
class Walk {
 public:
  Walk(const std::string& root, std::string_view path)
      : root_(root), what_(join_below(root, path)) {
    push_parts(parts_, path);
  }

  Result<UniqueFd> open(int flags) {
    UniqueFd top(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!top.valid()) return fail(Error::from_errno(errno, "open " + root_));
    trail_.push_back(std::move(top));
    while (!parts_.empty()) {
      const std::string part = std::move(parts_.front());
      parts_.pop_front();
      if (part == "..") {
        if (trail_.size() > 1) trail_.pop_back();
        continue;
      }
      const bool last = parts_.empty();
      if (last && (flags & O_NOFOLLOW) != 0) return open_here(part, flags);
      auto link = read_link(part);
      if (!link) return fail(link.error());
      if (!link->empty()) {
        if (++links_ > max_links) return fail(Error::from_errno(ELOOP, "open " + what_));
        if (link->front() == '/') trail_.erase(trail_.begin() + 1, trail_.end());
        push_parts(parts_, *link);
        continue;
      }
      if (last) return open_here(part, flags | O_NOFOLLOW);
      auto next = open_here(part, O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (!next) return next;
      trail_.push_back(std::move(*next));
    }
    return open_here(".", flags & ~O_NOFOLLOW);
  }

 private:
  Result<UniqueFd> open_here(const std::string& name, int flags) {
    UniqueFd fd(::openat(trail_.back().get(), name.c_str(), flags | O_CLOEXEC));
    if (!fd.valid()) return fail(Error::from_errno(errno, "open " + what_));
    return fd;
  }

  // Where the link leads; empty if it is none.
  Result<std::string> read_link(const std::string& name) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length =
        ::readlinkat(trail_.back().get(), name.c_str(), target.data(), target.size());
    if (length >= 0) return std::string(target.data(), static_cast<std::size_t>(length));
    if (errno == EINVAL) return std::string();
    return fail(Error::from_errno(errno, "open " + what_));
  }

  const std::string& root_;
  const std::string what_;
  std::deque<std::string> parts_;
  std::vector<UniqueFd> trail_;
  int links_ = 0;
};

}  // namespace

Result<UniqueFd> open_below(const std::string& root, std::string_view path, int flags) {
  return Walk(root, path).open(flags);
}

std::string join_below(std::string_view root, std::string_view path) {
  std::deque<std::string> parts;
  push_parts(parts, path);
  std::vector<std::string> kept;
  for (std::string& part : parts) {
    if (part != "..") {
      kept.push_back(std::move(part));
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string joined(root);
  while (joined.ends_with('/')) joined.pop_back();
  for (const std::string& part : kept) joined.append("/").append(part);
  return joined.empty() ? "/" : joined;
}

}  // namespace stoker::os
