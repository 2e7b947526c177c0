#include "job_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "cluster/launch.h"
#include "os/proc_stat.h"
#include "os/process_facts.h"
#include "other_namespace.h"

namespace stoker::app {
namespace {

constexpr std::array<std::string_view, 8> variables = {"NCCL_DEBUG_FILE",
                                                       "NCCL_RAS_ADDR",
                                                       "NCCL_RAS_ENABLE",
                                                       "TORCH_FR_DUMP_TEMP_FILE",
                                                       "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                                                       "RANK",
                                                       "SLURM_PROCID",
                                                       "OMPI_COMM_WORLD_RANK"};
constexpr std::size_t longest_status = 64U << 10U;  // a process may have 65,536 groups
constexpr std::size_t most_groups = 4096;

// The numbers behind "NAME:" in /proc/PID/status (proc(5)).
std::vector<std::uint32_t> numbers_of(std::string_view status, const std::string& name) {
  std::vector<std::uint32_t> numbers;
  const auto at = status.find("\n" + name + ":");
  if (at == std::string_view::npos) return numbers;
  auto line = status.substr(at + name.size() + 2);
  line = line.substr(0, line.find('\n'));
  while (numbers.size() < most_groups) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) break;
    const auto word = line.substr(0, line.find_first_of(" \t"));
    const auto number = whole_number<std::uint32_t>(word);
    if (!number) break;
    numbers.push_back(*number);
    line.remove_prefix(word.size());
  }
  return numbers;
}

Result<void> read_status(const os::Env& env, JobProcess& process) {
  const auto status = env.read_file(os::proc_file(process.pid, "status"), longest_status);
  if (!status) return fail(status.error());
  const auto uids = numbers_of(*status, "Uid");
  const auto gids = numbers_of(*status, "Gid");
  constexpr std::size_t effective = 1;
  if (uids.size() <= effective || gids.size() <= effective)
    return fail(ErrorCode::corrupt, "its status does not tell its user");
  // A set-user-ID program has an environment that another user wrote.
  if (std::ranges::count(uids, uids[effective]) != std::ssize(uids) ||
      std::ranges::count(gids, gids[effective]) != std::ssize(gids))
    return fail(ErrorCode::unavailable, "it runs with the rights of another user than its own");
  process.rights = {uids[effective], gids[effective], numbers_of(*status, "Groups")};
  process.pids = numbers_of(*status, "NSpid");
  if (process.pids.empty()) process.pids = {process.pid};
  return {};
}

void open_network(const os::Env& env, JobProcess& process) {
  const auto path = os::proc_file(process.pid, "ns/net");
  const auto its = env.read_link(path);
  std::error_code problem;
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/net", problem).string();
  if (its && !problem && *its == ours) return;
  if (its) process.network = UniqueFd(::open(env.real_path(path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!process.network.valid()) {
    process.network_problem =
        fmt::format("its network namespace can't be opened: {}",
                    its ? Error::from_errno(errno, "open").describe() : its.error().describe());
  }
}

void open_root(const os::Env& env, JobProcess& process) {
  const auto path = env.real_path(os::proc_file(process.pid, "root"));
  process.root_fd = UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  process.root = process.root_fd.valid() ? fmt::format("/proc/self/fd/{}", process.root_fd.get())
                                         : std::string();
}

void find_outputs(const os::Env& env, JobProcess& process) {
  for (const char* name : {"fd/1", "fd/2"}) {
    const auto file = env.read_link(os::proc_file(process.pid, name));
    if (!file || !file->starts_with('/') || file->ends_with(" (deleted)")) continue;
    if (*file == "/dev/null") continue;  // nothing is said there, by intent
    if (process.outputs.empty() || process.outputs.front() != *file)
      process.outputs.push_back(*file);
  }
}

// As gethostname(2) tells it there: no file of its container is opened for that, which its user could put anything in the
// place of.
Result<std::string> host_of(const os::Env& env, const JobProcess& process) {
  if (process.is_simulated()) return env.hostname();
  const auto path = os::proc_file(process.pid, "ns/uts");
  const auto its = env.read_link(path);
  if (!its) return fail(its.error());
  std::error_code problem;
  const auto ours = std::filesystem::read_symlink("/proc/thread-self/ns/uts", problem).string();
  const bool same = !problem && *its == ours;
  const UniqueFd other(same ? -1 : ::open(env.real_path(path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!same && !other.valid()) return fail(Error::from_errno(errno, "open its UTS namespace"));
  const OtherNamespace there(other, "/proc/thread-self/ns/uts", CLONE_NEWUTS);
  if (!there.entered()) return fail(there.entered().error());
  std::array<char, HOST_NAME_MAX + 1> text{};
  if (::gethostname(text.data(), text.size() - 1) != 0)
    return fail(Error::from_errno(errno, "gethostname"));
  return std::string(text.data());
}

// A user may call a host of a namespace of his anything (sethostname(2)), and the name becomes a part of files' names and of
// what people read: letters, digits, '.' and '-' alone (hostname(7)).
bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= HOST_NAME_MAX && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
  });
}

void find_host(const os::Env& env, JobProcess& process) {
  auto host = host_of(env, process);
  if (!host)
    process.host_problem = host.error().describe();
  else if (!is_host_name(*host))
    process.host_problem = "what it is called there is no host name";
  else
    process.host = *std::move(host);
}

void read_variables(const os::Env& env, const os::ProcessId& id, JobProcess& process) {
  auto read = os::read_environment(env, id, variables);
  if (!read) {
    process.environment_problem = read.error().describe();
    return;
  }
  process.environment = *std::move(read);
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const auto found = process.environment.find(name);
    if (found == process.environment.end() || process.rank) continue;
    process.rank = whole_number<int>(found->second);
  }
}

}  // namespace

bool JobProcess::is_simulated() const { return pid > os::pid_max_limit; }

Result<JobProcess> look_at_process(const os::Env& env, std::uint32_t pid) {
  const auto facts = os::read_process(env, pid);
  if (!facts) return fail(facts.error());
  JobProcess process{.pid = pid};
  if (auto read = read_status(env, process); !read) return fail(read.error());
  const auto began = os::latest_start(env, facts->id.start_ticks);
  if (!began) return fail(began.error());
  process.began = {env.clock().wall().since_epoch - (env.clock().monotonic() - *began)};
  if (process.is_simulated()) {
    process.root = env.real_path("/");
  } else {
    open_network(env, process);
    open_root(env, process);
    find_outputs(env, process);
  }
  find_host(env, process);
  read_variables(env, facts->id, process);
  // The one that all this was read of?
  const auto after = os::read_stat(env, pid);
  if (!after || after->start_ticks != facts->id.start_ticks)
    return fail(ErrorCode::not_found, fmt::format("process {} has ended", pid));
  return process;
}

Result<void> become(const Rights& rights) {
  if (::geteuid() != 0) {
    if (::geteuid() == rights.uid) return {};
    return fail(
        ErrorCode::no_permission,
        fmt::format("its files are those of uid {}, and this agent is not root", rights.uid));
  }
  // The calls themselves are a thread's; the C library's functions of their names make them in all threads (nptl(7)).
  const std::vector<gid_t> groups(rights.groups.begin(), rights.groups.end());
  if (::syscall(SYS_setgroups, groups.size(), groups.data()) != 0 ||
      ::syscall(SYS_setresgid, rights.gid, rights.gid, rights.gid) != 0 ||
      ::syscall(SYS_setresuid, rights.uid, rights.uid, rights.uid) != 0) {
    return fail(Error::from_errno(errno, "become its user"));
  }
  // A container's root is uid 0 here too; without capabilities it may do no more than any owner.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0)
    return fail(Error::from_errno(errno, "give up capabilities"));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(Error::from_errno(errno, "give up new privileges"));
  return {};
}

}  // namespace stoker::app
