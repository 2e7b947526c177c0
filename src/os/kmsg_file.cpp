#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "os/kmsg_sources.h"

namespace stoker::os {
namespace {

// A line that grows past this is no record; what follows up to its end is left out too.
constexpr std::size_t longest_line = 16 * 1024;
// Files can't be polled for growth; this often is looked.
constexpr Milliseconds look_every{5};

class FileFollower final : public KmsgFollower {
 public:
  FileFollower(UniqueFd fd, std::function<Result<UniqueFd>()> reopen)
      : fd_(std::move(fd)), reopen_(std::move(reopen)) {}

  void go_to_end() { offset_ = std::max<off_t>(0, ::lseek(fd_.get(), 0, SEEK_END)); }

  Result<std::size_t> read(std::vector<KmsgRecord>& out, std::size_t max) override {
    std::size_t added = 0;
    while (added < max) {
      added += take_lines(out, max - added);
      if (added == max) break;
      auto more = fill();
      if (!more) return fail(more.error());
      if (!*more) break;
    }
    return added;
  }

  bool wait(Milliseconds timeout) override {
    const MonotonicTime until = system_clock().monotonic() + timeout;
    while (!has_more()) {
      const Nanoseconds left = until - system_clock().monotonic();
      if (left <= Nanoseconds{0}) return false;
      std::this_thread::sleep_for(std::min<Nanoseconds>(left, look_every));
    }
    return true;
  }

  [[nodiscard]] std::uint64_t overwritten() const override { return 0; }
  [[nodiscard]] std::uint64_t malformed() const override { return malformed_; }

 private:
  // Reads on; false at the end of what is there.
  Result<bool> fill() {
    if (auto fresh = follow_replacement(); !fresh) return fail(fresh.error());
    std::array<char, 64 * 1024> chunk;
    const ssize_t got = ::pread(fd_.get(), chunk.data(), chunk.size(), offset_);
    if (got < 0 && errno != EINTR)
      return fail(Error::from_errno(errno, "read the kernel log file"));
    if (got <= 0) return false;
    offset_ += got;
    pending_.append(chunk.data(), static_cast<std::size_t>(got));
    return true;
  }

  // A file cut short or replaced under its name is read from its beginning.
  Result<bool> follow_replacement() {
    struct stat ours{};
    if (::fstat(fd_.get(), &ours) != 0)
      return fail(Error::from_errno(errno, "stat the kernel log file"));
    if (ours.st_size > offset_) return false;
    if (ours.st_size < offset_) {
      start_again();
      return true;
    }
    auto now = reopen_();
    if (!now) return false;  // gone for now: ours has no more, and another may come
    struct stat theirs{};
    if (::fstat(now->get(), &theirs) != 0 ||
        (theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev)) {
      return false;
    }
    fd_ = std::move(*now);
    start_again();
    return true;
  }

  void start_again() {
    offset_ = 0;
    pending_.clear();
    skipping_ = false;
  }

  bool has_more() {
    if (pending_.find('\n') != std::string::npos) return true;
    auto fresh = follow_replacement();
    struct stat ours{};
    return (fresh && *fresh) || (::fstat(fd_.get(), &ours) == 0 && ours.st_size != offset_);
  }

  std::size_t take_lines(std::vector<KmsgRecord>& out, std::size_t max) {
    std::size_t added = 0;
    std::size_t begin = 0;
    while (added < max) {
      const std::size_t end = pending_.find('\n', begin);
      if (end == std::string::npos) break;
      added += take_line({pending_.data() + begin, end - begin}, out) ? 1 : 0;
      begin = end + 1;
    }
    pending_.erase(0, begin);
    if (pending_.size() > longest_line && pending_.find('\n') == std::string::npos) {
      malformed_ += skipping_ ? 0 : 1;
      skipping_ = true;
      pending_.clear();
    }
    return added;
  }

  bool take_line(std::string_view line, std::vector<KmsgRecord>& out) {
    if (std::exchange(skipping_, false)) return false;
    if (line.empty() || line.front() == ' ') return false;  // a dictionary line of the one before
    auto record = parse_kmsg_record(line);
    if (!record) {
      ++malformed_;
      return false;
    }
    out.push_back(std::move(*record));
    return true;
  }

  UniqueFd fd_;
  const std::function<Result<UniqueFd>()> reopen_;
  off_t offset_ = 0;
  std::string pending_;  // what was read and not yet taken; at most one chunk and one line
  bool skipping_ = false;
  std::uint64_t malformed_ = 0;
};

}  // namespace

std::unique_ptr<KmsgFollower> follow_file(UniqueFd fd, KmsgStart start,
                                          std::function<Result<UniqueFd>()> reopen) {
  auto follower = std::make_unique<FileFollower>(std::move(fd), std::move(reopen));
  if (start == KmsgStart::end) follower->go_to_end();
  return follower;
}

}  // namespace stoker::os
