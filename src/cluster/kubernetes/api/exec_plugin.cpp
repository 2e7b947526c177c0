#include "cluster/kubernetes/api/exec_plugin.h"

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
#include <string_view>

#include "base/json_text.h"
#include "base/unique_fd.h"

namespace stoker::kubernetes {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Far more than a credential: a token and two certificates.
constexpr std::size_t most_printed = 1 << 20;

// What a plugin is told (client.authentication.k8s.io, kind ExecCredential).
std::string exec_info(const Access& access) {
  JsonWriter info;
  info.begin_object().member("apiVersion", access.exec->api_version);
  info.member("kind", "ExecCredential").key("spec").begin_object().member("interactive", false);
  if (access.exec->provide_cluster_info) {
    info.key("cluster").begin_object().member("server", access.server);
    info.member("insecure-skip-tls-verify", access.tls.unverified).end_object();
  }
  info.end_object().end_object();
  return info.text();
}

std::vector<std::string> environment_of(const Access& access) {
  std::vector<std::string> all = {"KUBERNETES_EXEC_INFO=" + exec_info(access)};
  for (const auto& [name, value] : access.exec->environment) {
    all.push_back(fmt::format("{}={}", name, value));
  }
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

// In a process group of its own, with /dev/null as its input and the end of a pipe as its output.
Result<Started> start(const Access& access) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Error::from_errno(errno, "make a pipe"));
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  std::vector<std::string> arguments = {access.exec->command};
  arguments.insert(arguments.end(), access.exec->arguments.begin(), access.exec->arguments.end());
  auto environment = environment_of(access);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Started started;
  const int problem =
      ::posix_spawnp(&started.pid, access.exec->command.c_str(), &actions, &attributes,
                     pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return fail(Error::from_errno(problem, "run " + access.exec->command));
  started.output = std::move(output);
  return started;
}

// All that it prints until it closes its output; timeout, or corrupt for too much.
Result<std::string> printed_by(const Started& started, SteadyClock::time_point deadline) {
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
    if (text.size() > most_printed) return fail(ErrorCode::corrupt, "it prints without end");
  }
}

// Reaps it, by `deadline` at the latest: it may have closed its output and live on. nullopt: it had to be killed.
std::optional<int> end_of(pid_t pid, SteadyClock::time_point deadline) {
  int status = 0;
  while (SteadyClock::now() < deadline) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    constexpr auto beat = std::chrono::milliseconds(5);
    ::poll(nullptr, 0, static_cast<int>(beat.count()));
  }
  ::kill(-pid, SIGKILL);
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

Error told(const Access& access, const Error& why) {
  const auto& plugin = *access.exec;
  const auto hint = plugin.install_hint.empty() ? std::string() : "; " + plugin.install_hint;
  return Error(
      why.code(),
      fmt::format(
          "the exec plugin {} of context {}: {}; a token of its own is given by --token-file{}",
          plugin.command, access.name, why.describe(), hint));
}

}  // namespace

Result<PluginCredential> run_exec_plugin(const Access& access, std::chrono::milliseconds timeout) {
  const auto& version = access.exec->api_version;
  if (version != "client.authentication.k8s.io/v1" &&
      version != "client.authentication.k8s.io/v1beta1") {
    return fail(told(
        access, Error(ErrorCode::invalid_input,
                      fmt::format("apiVersion {} is not supported, v1 and v1beta1 are", version))));
  }
  const auto started = start(access);
  if (!started) return fail(told(access, started.error()));
  const auto deadline = SteadyClock::now() + timeout;
  const auto text = printed_by(*started, deadline);
  const auto status = end_of(started->pid, text ? deadline : SteadyClock::now());
  if (!text) return fail(told(access, text.error()));
  if (!status) return fail(told(access, Error(ErrorCode::timeout, "it did not end in time")));
  if (*status != 0) {
    const auto how = WIFEXITED(*status)
                         ? fmt::format("it failed with exit code {}", WEXITSTATUS(*status))
                         : std::string("it was killed");
    return fail(told(access, Error(ErrorCode::unavailable, how)));
  }
  auto credential = read_exec_credential(*text, version);
  if (!credential) return fail(told(access, credential.error()));
  return credential;
}

}  // namespace stoker::kubernetes
