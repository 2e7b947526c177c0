#include "event/syslog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

#include "event/log_line.h"

namespace stoker::event {
namespace {

// What the kernel says first in each boot (init/version.c, linux_banner).
constexpr std::string_view first_words = "Linux version ";
// A quiet machine writes less than this in months, a storm of Xids in hours.
constexpr std::uint64_t looked_through = std::uint64_t{16} << 20U;
// A clock that is set while the machine starts: a line of this boot may seem to be from before it by so much.
constexpr Seconds clock_was_set{5};

struct Tail {
  std::string text;
  std::uint64_t begin = 0;  // its first byte in the file
};

Result<Tail> read_tail(const UniqueFd& fd, std::uint64_t size) {
  Tail tail;
  tail.begin = size - std::min(size, looked_through);
  tail.text.resize(size - tail.begin);
  std::size_t done = 0;
  while (done < tail.text.size()) {
    const auto got = ::pread(fd.get(), tail.text.data() + done, tail.text.size() - done,
                             static_cast<off_t>(tail.begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Error::from_errno(errno, "read the syslog file"));
    if (got == 0) break;  // cut short in between
    done += static_cast<std::size_t>(got);
  }
  tail.text.resize(done);
  return tail;
}

std::string_view line_at(std::string_view text, std::size_t place) {
  const auto before = place == 0 ? std::string_view::npos : text.rfind('\n', place - 1);
  const auto begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', place) - begin);
}

// Where the last line begins with which a kernel began; nullopt: it is not in there.
std::optional<std::uint64_t> boot_begins(const Tail& tail) {
  const std::string_view text = tail.text;
  for (auto at = text.rfind(first_words); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(first_words, at - 1)) {
    const auto line = line_at(text, at);
    LogLineReader reader;
    const auto read = reader.read(line);
    if (read.kernel && read.text.starts_with(first_words)) {
      return tail.begin + static_cast<std::uint64_t>(line.data() - text.data());
    }
  }
  return std::nullopt;
}

// Tells the lines of the file that stands there now from those of the file before it, whose bytes had the same
// numbers: by its first line, which has the time in it.
std::uint64_t numbers_from(std::string_view first_line) {
  constexpr std::size_t looked_at = 256;
  constexpr unsigned offset_bits = 40;
  constexpr std::uint64_t kept = (std::uint64_t{1} << 23U) - 1;  // positive in SQLite too
  const auto start = first_line.substr(0, looked_at);
  const auto sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(start.data()), static_cast<uInt>(start.size()));
  return (sum & kept) << offset_bits;
}

class SyslogReader {
 public:
  // `there_before`: bytes that were written before anybody looked. `of_this_boot`: all that is read is.
  SyslogReader(const Clock& clock, std::string_view first_line, std::uint64_t there_before,
               bool of_this_boot)
      : clock_(clock),
        numbers_(numbers_from(first_line)),
        there_before_(there_before),
        of_this_boot_(of_this_boot) {}

  std::optional<Result<os::KmsgRecord>> operator()(std::string_view raw, std::uint64_t offset) {
    if (offset == 0) {  // the file from its beginning: another one, or it was cut short
      if (const auto numbers = numbers_from(raw); numbers != numbers_) {
        numbers_ = numbers;
        there_before_ = 0;
      }
    }
    const auto line = lines_.read(raw);
    if (!line.kernel) return std::nullopt;
    const auto said = since_boot(line.time, offset < there_before_);
    if (!said) return std::nullopt;
    return os::KmsgRecord{.sequence = numbers_ + offset,
                          .microseconds = static_cast<std::uint64_t>(
                              std::chrono::floor<std::chrono::microseconds>(*said).count()),
                          .text = std::string(line.text)};
  }

 private:
  // When it was said; nullopt: before this boot, or nobody can tell.
  [[nodiscard]] std::optional<Nanoseconds> since_boot(const LogTime& time, bool old) const {
    const Nanoseconds now = clock_.monotonic().since_boot;
    std::optional<Nanoseconds> by_wall;
    if (time.wall) by_wall = now - (clock_.wall().since_epoch - time.wall->since_epoch);
    if (old && by_wall && *by_wall < -clock_was_set) return std::nullopt;
    // A stamp alone may be an earlier boot's.
    if (old && !by_wall && !of_this_boot_) return std::nullopt;
    if (time.since_boot && *time.since_boot <= now + clock_was_set) return time.since_boot;
    if (!old) return now;
    if (!by_wall) return std::nullopt;
    return std::clamp(*by_wall, Nanoseconds{0}, now);
  }

  const Clock& clock_;
  LogLineReader lines_;
  std::uint64_t numbers_;
  std::uint64_t there_before_;
  const bool of_this_boot_;
};

// A file that nobody writes the kernel's lines into is not the log of a quiet kernel.
bool has_kernel_line(std::string_view text) {
  LogLineReader reader;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (reader.read(text.substr(0, end)).kernel) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<os::KmsgFollower>> follow_syslog(const os::Env& env, std::string_view path) {
  const auto fd = env.open(path, O_NONBLOCK);
  if (!fd) return fail(fd.error());
  struct stat what{};
  if (::fstat(fd->get(), &what) != 0)
    return fail(Error::from_errno(errno, "stat " + env.real_path(path)));
  if (!S_ISREG(what.st_mode))
    return fail(ErrorCode::invalid_input, env.real_path(path) + " is no file");
  const auto size = static_cast<std::uint64_t>(what.st_size);
  const auto tail = read_tail(*fd, size);
  if (!tail) return fail(tail.error());

  const WallTime booted{env.clock().wall().since_epoch - env.clock().monotonic().since_boot};
  const WallTime written{Seconds(what.st_mtim.tv_sec) + Nanoseconds(what.st_mtim.tv_nsec)};
  if (written < booted) {
    return fail(ErrorCode::not_found,
                env.real_path(path) + " has nothing of this boot: nobody wrote it since");
  }
  const auto boot = boot_begins(*tail);  // a line of the kernel
  if (!boot && !has_kernel_line(tail->text)) {
    return fail(ErrorCode::not_found, env.real_path(path) + " has no line of the kernel");
  }
  std::array<char, 4096> head{};
  const auto got = std::max<ssize_t>(0, ::pread(fd->get(), head.data(), head.size(), 0));
  const std::string_view start(head.data(), static_cast<std::size_t>(got));
  return os::follow_lines(
      env, path, boot.value_or(tail->begin),
      SyslogReader(env.clock(), start.substr(0, start.find('\n')), size, boot.has_value()));
}

}  // namespace stoker::event
