#include "device/simnode/kernel_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/unique_fd.h"
#include "device/simnode/files.h"

namespace stoker::simnode {
namespace {

constexpr off_t tail_bytes = 8192;  // more than the longest record: the kernel's is 1 KiB of text

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte >= 127 || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

// The number behind the first comma of the last line; nullopt in an empty file.
std::optional<std::uint64_t> last_sequence(std::string_view tail) {
  while (tail.ends_with('\n')) tail.remove_suffix(1);
  const auto line = tail.substr(tail.rfind('\n') + 1);  // npos + 1 is 0
  const auto comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const char* begin = line.data() + comma + 1;
  const auto [end, code] = std::from_chars(begin, line.data() + line.size(), number);
  return code == std::errc{} ? std::optional(number) : std::nullopt;
}

Result<std::uint64_t> next_sequence(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(Error::from_errno(errno, "stat " + path));
  std::string tail(static_cast<std::size_t>(std::min(info.st_size, tail_bytes)), '\0');
  const ssize_t got = ::pread(fd, tail.data(), tail.size(), info.st_size - std::ssize(tail));
  if (got < 0) return fail(Error::from_errno(errno, "read " + path));
  tail.resize(static_cast<std::size_t>(got));
  const auto last = last_sequence(tail);
  return last ? *last + 1 : 0;
}

}  // namespace

std::string kernel_record(KernelLevel level, std::uint64_t sequence, std::uint64_t usec,
                          std::string_view text) {
  return fmt::format("{},{},{},-;{}\n", static_cast<int>(level), sequence, usec, escaped(text));
}

Result<void> KernelLog::append(KernelLevel level, std::uint64_t usec,
                               const std::vector<std::string>& texts) const {
  const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail(Error::from_errno(errno, "open " + path_));
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail(Error::from_errno(errno, "lock " + path_));
  }
  auto sequence = next_sequence(fd.get(), path_);
  if (!sequence) return fail(sequence.error());
  std::string lines;
  for (const auto& text : texts) lines += kernel_record(level, (*sequence)++, usec, text);
  if (::write(fd.get(), lines.data(), lines.size()) != std::ssize(lines)) {
    return fail(Error::from_errno(errno, "write " + path_));
  }
  return {};
}

bool KernelLog::has(const std::string& text) const {
  const auto content = read_file(path_);
  return content && content->find(";" + text) != std::string::npos;
}

}  // namespace stoker::simnode
