#include "os/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace stoker::os {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::vector<std::string> environment_of(const Command& command) {
  auto all = command.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    const auto name = assignment.substr(0, assignment.find('=') + 1);
    if (std::ranges::none_of(all, [&](const auto& each) { return each.starts_with(name); }))
      all.emplace_back(assignment);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct Started {
  pid_t pid = 0;
  UniqueFd output;
};

Result<Started> start(const Command& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Error::from_errno(errno, "make a pipe"));
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  auto environment = environment_of(command);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  if (command.quiet)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Started started;
  const int problem =
      ::posix_spawnp(&started.pid, command.program.c_str(), &actions, &attributes,
                     pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return fail(Error::from_errno(problem, "run " + command.program));
  started.output = std::move(output);
  return started;
}

// All that it prints until it closes its output.
Result<std::string> printed_by(const Started& started, SteadyClock::time_point deadline,
                               std::size_t most) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    pollfd waiting{.fd = started.output.get(), .events = POLLIN, .revents = 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail(ErrorCode::timeout, "it did not end in time");
    const auto got = ::read(started.output.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Error::from_errno(errno, "read what it prints"));
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > most) return fail(ErrorCode::corrupt, "it prints without end");
  }
}

// Its status, if it ends before `deadline`; reaps it.
std::optional<int> ended(pid_t pid, SteadyClock::time_point deadline) {
  int status = 0;
  while (true) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    if (SteadyClock::now() >= deadline) return std::nullopt;
    constexpr auto beat = std::chrono::milliseconds(5);
    ::poll(nullptr, 0, static_cast<int>(beat.count()));
  }
}

// With its group, before it is reaped: it may have ended itself and left children behind that hold its output, and until then
// nobody else has its number. One that is stuck in the kernel does not die of that, and is left to init: to wait for it would
// be to hang with it.
void end(pid_t pid) {
  ::kill(-pid, SIGKILL);
  constexpr auto grace = std::chrono::seconds(1);
  ended(pid, SteadyClock::now() + grace);
}

}  // namespace

Result<std::string> output_of(const Command& command, std::chrono::milliseconds timeout,
                              std::size_t most) {
  const auto started = start(command);
  if (!started) return fail(started.error());
  const auto deadline = SteadyClock::now() + timeout;
  auto text = printed_by(*started, deadline, most);
  // It may have closed its output and live on.
  const auto status = text ? ended(started->pid, deadline) : std::nullopt;
  if (!status) end(started->pid);
  if (!text) return text;
  if (!status) return fail(ErrorCode::timeout, "it did not end in time");
  if (*status == 0) return text;
  return fail(ErrorCode::unavailable,
              WIFEXITED(*status) ? fmt::format("it failed with exit code {}", WEXITSTATUS(*status))
                                 : std::string("it was killed"));
}

}  // namespace stoker::os
