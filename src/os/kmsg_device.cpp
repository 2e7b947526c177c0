#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "os/kmsg_sources.h"

namespace stoker::os {
namespace {

// The longest record that the kernel shows: CONSOLE_EXT_LOG_MAX in kernel/printk/printk.c (since 6.4
// PRINTK_MESSAGE_MAX, 2048). A smaller buffer would be EINVAL.
constexpr std::size_t longest_record = 8192;

class DeviceFollower final : public KmsgFollower {
 public:
  DeviceFollower(UniqueFd fd, ReadCall read_call)
      : fd_(std::move(fd)), read_call_(std::move(read_call)) {}

  Result<std::size_t> read(std::vector<KmsgRecord>& out, std::size_t max) override {
    std::size_t added = 0;
    while (added < max) {
      std::array<char, longest_record + 1> buffer;
      const ssize_t got = read_call_(fd_.get(), buffer.data(), buffer.size());
      if (got == 0 || (got < 0 && errno == EAGAIN)) return added;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EPIPE) {
        // The next read gives the oldest record that is left; its number tells how many are gone.
        gap_ = true;
        continue;
      }
      if (got < 0) return fail(Error::from_errno(errno, "read /dev/kmsg"));
      added += take({buffer.data(), static_cast<std::size_t>(got)}, out) ? 1 : 0;
    }
    return added;
  }

  bool wait(Milliseconds timeout, const Waker& waker) override {
    std::array<pollfd, 2> watched{{{fd_.get(), POLLIN, 0}, {waker.fd(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), static_cast<int>(timeout.count()));
    return watched[0].revents != 0;
  }

  [[nodiscard]] std::uint64_t overwritten() const override { return overwritten_; }
  [[nodiscard]] std::uint64_t malformed() const override { return malformed_; }

 private:
  bool take(std::string_view text, std::vector<KmsgRecord>& out) {
    auto record = parse_kmsg_record(text);
    if (!record) {
      ++malformed_;
      return false;
    }
    if (std::exchange(gap_, false)) {
      const bool counted = last_ && record->sequence > *last_ + 1;
      overwritten_ += counted ? record->sequence - *last_ - 1 : 1;
    }
    last_ = record->sequence;
    out.push_back(std::move(*record));
    return true;
  }

  const UniqueFd fd_;
  const ReadCall read_call_;
  bool gap_ = false;
  std::optional<std::uint64_t> last_;
  std::uint64_t overwritten_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace

std::unique_ptr<KmsgFollower> follow_device(UniqueFd fd, KmsgStart start, ReadCall read_call) {
  // SEEK_SET is the oldest record, SEEK_END behind the newest (dev-kmsg); a stand-in need not seek.
  ::lseek(fd.get(), 0, start == KmsgStart::end ? SEEK_END : SEEK_SET);
  return std::make_unique<DeviceFollower>(std::move(fd), std::move(read_call));
}

}  // namespace stoker::os
