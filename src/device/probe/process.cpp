#include "device/probe/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace stoker::device::probe {
namespace {

constexpr int child_fd = 3;

// The file actions and attributes of one posix_spawn, freed again.
class SpawnPlan {
 public:
  explicit SpawnPlan(int child_socket) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    // Also where the two are equal: then dup2 takes close-on-exec off (POSIX, file actions).
    posix_spawn_file_actions_adddup2(&actions, child_socket, child_fd);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t defaults;
    sigfillset(&defaults);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::string_view name_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added,
                                            const std::vector<std::string>& without) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [entry](const std::string& other) {
      return name_of(other) == name_of(*entry);
    };
    const bool left_out = std::ranges::find(without, name_of(*entry)) != without.end();
    if (!left_out && std::ranges::none_of(added, same)) all.emplace_back(*entry);
  }
  return all;
}

// The state letter of one thread: the field after the last ')' (proc(5): comm may contain anything).
char thread_state(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  return end == std::string::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

}  // namespace

Result<Process> Process::spawn(const ProcessOptions& options) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Error::from_errno(errno, "make a socket for the probe"));
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);

  std::vector<std::string> arguments = {options.name};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  if (options.tell_socket) arguments.insert(arguments.end(), {"--fd", std::to_string(child_fd)});
  std::vector<std::string> environment = merged_environment(options.environment, options.without);

  SpawnPlan plan(theirs.get());
  pid_t pid = 0;
  const int error = posix_spawn(&pid, options.program.c_str(), &plan.actions, &plan.attributes,
                                pointers(arguments).data(), pointers(environment).data());
  if (error != 0) return fail(Error::from_errno(error, "start " + options.program));
  // glibc 2.36's <sys/pidfd.h> does not declare it for C++; the kernel makes it close-on-exec.
  const auto end = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  return Process(pid, std::move(ours), UniqueFd(end));
}

bool Process::send(const std::string& packet) const {
  return ::send(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void Process::finish_sending() const { shutdown(socket_.get(), SHUT_WR); }

// The process is our unreaped child, so its pid can't be anybody else's.
void Process::signal(int number) const { kill(pid_, number); }

std::optional<std::string> Process::poll_exit() {
  int status = 0;
  const pid_t done = waitpid(pid_, &status, WNOHANG);
  if (done == 0 || (done < 0 && errno == EINTR)) return std::nullopt;
  if (done < 0) return "its end was not seen";
  if (WIFSIGNALED(status)) {
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

bool Process::stopped() const {
  std::error_code error;
  bool any = false;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid_);
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    const char state = thread_state(task.path() / "stat");
    if (state != 'T' && state != 't') return false;
    any = true;
  }
  return any;
}

}  // namespace stoker::device::probe
