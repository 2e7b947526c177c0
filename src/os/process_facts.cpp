#include "os/process_facts.h"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): explicit_bzero
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "os/proc_stat.h"

namespace stoker::os {
namespace {

constexpr std::size_t status_limit = 16384;  // status is below 2 KiB
constexpr std::size_t cgroup_limit = 65536;
// What execve(2) takes is bounded by a quarter of the stack's limit, 8 MiB as a rule.
constexpr std::size_t environment_limit = 2 << 20;
constexpr std::size_t longest_entry = 256 + 64;

// "Uid:\t<real>\t<effective>\t..."
std::optional<std::uint32_t> effective_uid(std::string_view status) {
  const auto at = status.find("\nUid:\t");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + 6);
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find('\t') + 1, line.size()));
  return whole_number<std::uint32_t>(line.substr(0, line.find('\t')));
}

Error ended(std::uint32_t pid) {
  return {ErrorCode::not_found, fmt::format("process {} has ended", pid)};
}

// Takes an environment in pieces and keeps the wanted variables.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(std::span<const std::string_view> names) : names_(names) {
    entry_.reserve(longest_entry);  // grows no more, so that no copy of a part stays behind
  }
  ~EnvironmentReader() { forget(); }
  EnvironmentReader(const EnvironmentReader&) = delete;
  EnvironmentReader& operator=(const EnvironmentReader&) = delete;

  void take(std::string_view piece) {
    while (!piece.empty()) {
      const auto end = std::min(piece.find('\0'), piece.size());
      const std::string_view part = piece.substr(0, end);
      too_long_ = too_long_ || entry_.size() + part.size() > longest_entry;
      if (!too_long_) entry_.append(part);
      if (end < piece.size()) finish();
      piece.remove_prefix(std::min(end + 1, piece.size()));
    }
  }

  // The last entry ends with the file.
  void finish() {
    const auto equals = entry_.find('=');
    if (!too_long_ && equals != std::string::npos) {
      const std::string name = entry_.substr(0, equals);
      if (is_wanted(name)) found_[name] = entry_.substr(equals + 1);
    }
    forget();
  }

  std::map<std::string, std::string> found() && { return std::move(found_); }

 private:
  [[nodiscard]] bool is_wanted(std::string_view name) const {
    return std::ranges::any_of(names_, [&](std::string_view wanted) {
      if (!wanted.ends_with('*')) return name == wanted;
      wanted.remove_suffix(1);
      return name.starts_with(wanted);
    });
  }
  void forget() {
    ::explicit_bzero(entry_.data(), entry_.size());
    entry_.clear();
    too_long_ = false;
  }

  const std::span<const std::string_view> names_;
  std::string entry_;
  bool too_long_ = false;
  std::map<std::string, std::string> found_;
};

Result<void> read_into(int fd, const std::string& path, EnvironmentReader& reader) {
  std::array<char, 4096> piece;
  Result<void> outcome;
  for (std::size_t all = 0; all < environment_limit;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) outcome = fail(Error::from_errno(errno, "read " + path));
    if (got <= 0) break;
    reader.take({piece.data(), static_cast<std::size_t>(got)});
    all += static_cast<std::size_t>(got);
  }
  reader.finish();
  ::explicit_bzero(piece.data(), piece.size());
  return outcome;
}

}  // namespace

Result<ProcessFacts> read_process(const Env& env, std::uint32_t pid) {
  const auto before = read_stat(env, pid);
  if (!before) return fail(before.error());
  ProcessFacts facts{.id = {.pid = pid, .start_ticks = before->start_ticks}};
  if (const auto status = env.read_file(proc_file(pid, "status"), status_limit)) {
    facts.uid = effective_uid(*status);
  }
  if (auto cgroup = env.read_file(proc_file(pid, "cgroup"), cgroup_limit)) {
    facts.cgroup = std::move(*cgroup);
  }
  const auto after = read_stat(env, pid);
  if (!after || after->start_ticks != before->start_ticks) return fail(ended(pid));
  return facts;
}

Result<std::map<std::string, std::string>> read_environment(
    const Env& env, const ProcessId& id, std::span<const std::string_view> names) {
  const auto before = read_stat(env, id.pid);
  if (!before || before->start_ticks != id.start_ticks) return fail(ended(id.pid));
  if (before->state == 'D') {
    return fail(ErrorCode::unavailable,
                fmt::format("process {} sleeps in the kernel (state D)", id.pid));
  }
  const std::string path = proc_file(id.pid, "environ");
  const auto fd = env.open(path);
  if (!fd) return fail(fd.error());
  EnvironmentReader reader(names);
  if (auto read = read_into(fd->get(), env.real_path(path), reader); !read) {
    return fail(read.error());
  }
  const auto after = read_stat(env, id.pid);
  if (!after || after->start_ticks != id.start_ticks) return fail(ended(id.pid));
  return std::move(reader).found();
}

Result<MonotonicTime> latest_start(const Env& env, std::uint64_t start_ticks) {
  const auto text = env.read_file("/proc/uptime", status_limit);
  if (!text) return fail(text.error());
  const MonotonicTime now = env.clock().monotonic();
  // "12345.67 ...": since boot, the time asleep included, as the ticks are.
  const std::string_view uptime = std::string_view(*text).substr(0, text->find(' '));
  const auto dot = uptime.find('.');
  const auto whole = whole_number<std::int64_t>(uptime.substr(0, dot));
  const auto hundredths = dot == std::string_view::npos
                              ? std::optional<std::int64_t>()
                              : whole_number<std::int64_t>(uptime.substr(dot + 1));
  constexpr std::uint64_t most_ticks = 100'000'000'000;  // thirty years
  if (!whole || !hundredths || start_ticks > most_ticks) {
    return fail(ErrorCode::corrupt, "/proc/uptime or a process's start time can't be true");
  }
  constexpr Nanoseconds step = Milliseconds(10);  // of both, at USER_HZ = 100
  const Nanoseconds up = Seconds(*whole) + *hundredths * step;
  const auto hz = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const Nanoseconds tick = Nanoseconds(Seconds(1)) / hz;
  return now + (static_cast<std::int64_t>(start_ticks) * tick - up) + tick + step;
}

bool shows_host_pids(const Env& env) {
  // PROC_PID_INIT_INO, 0xEFFFFFFC, the first pid namespace's inode: include/linux/proc_ns.h (since
  // 6.17 also include/uapi/linux/nsfs.h, PID_NS_INIT_INO).
  constexpr std::string_view first = "pid:[4026531836]";
  // Where the host's /proc is mounted elsewhere (option root), it has its own process 1; whose
  // namespaces only root may see.
  for (const char* link : {"/proc/self/ns/pid", "/proc/1/ns/pid"}) {
    const auto told = env.read_link(link);
    if (told && *told == first) return true;
  }
  return false;
}

}  // namespace stoker::os
