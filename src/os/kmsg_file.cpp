#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "os/kmsg_sources.h"

namespace stoker::os {
namespace {

// A line that grows past this is no record; what follows up to its end is left out too.
constexpr std::size_t longest_line = 16 * 1024;
// Where the system has no watch left (inotify(7): max_user_watches), growth is looked for.
constexpr Milliseconds look_for_growth{5};
// A file that was taken away is looked for under its name.
constexpr Milliseconds look_for_another{200};

class FileFollower final : public KmsgFollower {
 public:
  explicit FileFollower(FollowedFile file)
      : fd_(std::move(file.fd)),
        reader_(std::move(file.reader)),
        reopen_(std::move(file.reopen)),
        offset_(static_cast<off_t>(file.from)) {
    watch();
  }

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

  bool wait(Milliseconds timeout, const Waker& waker) override {
    const MonotonicTime until = system_clock().monotonic() + timeout;
    while (!has_more()) {
      const Nanoseconds left = until - system_clock().monotonic();
      if (left <= Nanoseconds{0}) return false;
      if (wait_for_growth(left, waker)) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t overwritten() const override { return 0; }
  [[nodiscard]] std::uint64_t malformed() const override { return malformed_; }

 private:
  // Of the file that is open now: that it grows, is moved or unlinked. Without a watch both are looked for.
  void watch() {
    watch_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    const auto open_file = fmt::format("/proc/self/fd/{}", fd_.get());
    const int added = ::inotify_add_watch(watch_.get(), open_file.c_str(),
                                          IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF);
    if (added < 0) watch_.reset();
  }

  void take_events() {
    alignas(inotify_event) std::array<char, 4096> events;
    for (ssize_t got = 0; (got = ::read(watch_.get(), events.data(), events.size())) > 0;) {
      for (ssize_t at = 0; at < got;) {
        const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
        may_be_another_ = may_be_another_ || event->mask != IN_MODIFY;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
  }

  // True when the waker was woken.
  bool wait_for_growth(Nanoseconds at_most, const Waker& waker) {
    if (!watch_.valid()) at_most = std::min<Nanoseconds>(at_most, look_for_growth);
    if (may_be_another_) at_most = std::min<Nanoseconds>(at_most, look_for_another);
    const auto time = std::chrono::ceil<Milliseconds>(at_most);
    std::array<pollfd, 2> watched{{{watch_.get(), POLLIN, 0}, {waker.fd(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), static_cast<int>(time.count()));
    return watched[1].revents != 0;
  }

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
    if (watch_.valid()) take_events();
    struct stat ours{};
    if (::fstat(fd_.get(), &ours) != 0)
      return fail(Error::from_errno(errno, "stat the kernel log file"));
    if (ours.st_size > offset_) return false;
    if (ours.st_size < offset_) {
      start_again();
      return true;
    }
    if (watch_.valid() && !may_be_another_) return false;
    auto now = reopen_();
    if (!now) return false;  // gone for now: ours has no more, and another may come
    struct stat theirs{};
    if (::fstat(now->get(), &theirs) != 0 ||
        (theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev)) {
      may_be_another_ = false;
      return false;
    }
    fd_ = std::move(*now);
    may_be_another_ = true;
    watch();
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
    const auto first = static_cast<std::uint64_t>(offset_) - pending_.size();
    while (added < max) {
      const std::size_t end = pending_.find('\n', begin);
      if (end == std::string::npos) break;
      added += take_line({pending_.data() + begin, end - begin}, first + begin, out) ? 1 : 0;
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

  bool take_line(std::string_view line, std::uint64_t offset, std::vector<KmsgRecord>& out) {
    if (std::exchange(skipping_, false)) return false;
    auto record = reader_(line, offset);
    if (!record) return false;
    if (!*record) {
      ++malformed_;
      return false;
    }
    out.push_back(std::move(**record));
    return true;
  }

  UniqueFd fd_;
  UniqueFd watch_;
  bool may_be_another_ = true;  // under the name, than the one that is open
  const KmsgLineReader reader_;
  const std::function<Result<UniqueFd>()> reopen_;
  off_t offset_ = 0;
  std::string pending_;  // what was read and not yet taken; at most one chunk and one line
  bool skipping_ = false;
  std::uint64_t malformed_ = 0;
};

}  // namespace

std::unique_ptr<KmsgFollower> follow_file(FollowedFile file) {
  return std::make_unique<FileFollower>(std::move(file));
}

}  // namespace stoker::os
