// Simulated node: /proc/<pid> of the processes that only exist here, as proc(5) shows them, with owners
// as a cluster has them: a training is one Slurm job, an inference server the container of a pod.
#include <fmt/format.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): CLOCK_BOOTTIME
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/text.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/files.h"
#include "device/simnode/text_field.h"
#include "os/env.h"

namespace stoker::simnode {
namespace {

constexpr std::size_t longest_comm = 15;  // TASK_COMM_LEN, include/linux/sched.h

// One process and the first GPU that it runs on.
struct Runs {
  std::string name;
  unsigned gpu = 0;
};

struct Owner {
  unsigned uid = 0;  // of no account that a machine is likely to have
  std::string cgroup;
  std::string environment;  // '\0' behind each variable
};

std::string variables(std::initializer_list<std::string> all) {
  std::string text;
  for (const std::string& one : all) text.append(one).push_back('\0');
  return text;
}

// https://slurm.schedmd.com/cgroup_v2.html; srun(1) has the variables.
Owner slurm_task(unsigned uid, unsigned job, std::string_view name, unsigned task) {
  return {uid, fmt::format("/system.slice/slurmstepd.scope/job_{}/step_0/user/task_{}", job, task),
          variables({"PATH=/usr/bin:/bin", fmt::format("SLURM_JOB_ID={}", job), "SLURM_STEP_ID=0",
                     fmt::format("SLURM_JOB_NAME={}", name), fmt::format("SLURM_PROCID={}", task),
                     fmt::format("SLURM_LOCALID={}", task)})};
}

// As containerd and a kubelet with the systemd cgroup driver name them; ids are plainly nobody's.
Owner pod(unsigned gpu) {
  return {0,
          fmt::format("/kubepods.slice/kubepods-pod51000000_0000_4000_8000_{:012x}.slice/"
                      "cri-containerd-51{:062x}.scope",
                      gpu + 1, gpu + 1),
          variables({"PATH=/usr/bin:/bin", fmt::format("HOSTNAME=decode-{}", gpu),
                     "KUBERNETES_SERVICE_HOST=192.0.2.1"})};
}

Owner owner_of(const Runs& runs) {
  if (runs.name == "training" || runs.name == "hung" || runs.name == "missing") {
    return slurm_task(51001, 4711, "pretrain", runs.gpu);
  }
  if (runs.name == "starved") return slurm_task(51002, 4712, "finetune", runs.gpu);
  if (runs.name == "inference") return pod(runs.gpu);
  return {51003, "/user.slice/user-51003.slice/session-1.scope", variables({"PATH=/usr/bin:/bin"})};
}

// Since boot, in the kernel's ticks.
std::uint64_t ticks_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto hz = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return static_cast<std::uint64_t>(now.tv_sec) * hz +
         static_cast<std::uint64_t>(now.tv_nsec) * hz / 1'000'000'000;
}

std::string stat_of(std::uint32_t pid, std::string_view comm, std::uint64_t start) {
  return fmt::format("{0} ({1}) S 1 {0} {0} 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 {2} 0 0\n", pid,
                     comm, start);
}

// The 22nd field; a process that began before this boot is none that runs.
bool began_before_now(std::string_view stat) {
  std::uint64_t start = 0;
  for (int field = 1; field < 22; ++field) {
    stat.remove_prefix(std::min(stat.find(' '), stat.size() - 1) + 1);
  }
  std::from_chars(stat.data(), stat.data() + stat.size(), start);
  return start <= ticks_now();
}

std::map<std::uint32_t, Runs> simulated_processes(const sim::State& state) {
  std::map<std::uint32_t, Runs> all;
  for (unsigned row = 0; row < sim::max_gpus; ++row) {
    for (const sim::Process& process : state.gpus[row].processes) {
      if (process.kind == sim::ProcessKind::none || process.pid <= os::pid_max_limit) continue;
      all.try_emplace(process.pid,
                      Runs{std::string(get(process.name)).substr(0, longest_comm), row});
    }
  }
  return all;
}

Result<void> write_process(std::uint32_t pid, const Runs& runs, const std::string& folder) {
  const auto comm = read_file(folder + "comm");
  const auto stat = read_file(folder + "stat");
  if (comm && stat && *comm == runs.name + "\n" && began_before_now(*stat)) return {};
  // It has its context on a GPU a second or more after it began, and is in no list before.
  const auto hz = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const std::uint64_t now = ticks_now();
  const Owner owner = owner_of(runs);
  const std::pair<std::string_view, std::string> files[] = {
      {"stat", stat_of(pid, runs.name, now - std::min(now, hz))},
      {"status", fmt::format("Name:\t{0}\nState:\tS (sleeping)\nTgid:\t{1}\nPid:\t{1}\nPPid:\t1\n"
                             "Uid:\t{2}\t{2}\t{2}\t{2}\nGid:\t{2}\t{2}\t{2}\t{2}\n",
                             runs.name, pid, owner.uid)},
      {"cgroup", "0::" + owner.cgroup + "\n"},
      {"environ", owner.environment},
      {"comm", runs.name + "\n"}};
  for (const auto& [name, content] : files) {
    if (auto written = write_file(folder + std::string(name), content); !written) return written;
  }
  return {};
}

}  // namespace

Result<void> write_processes(const sim::State& state, const std::string& root) {
  const std::string proc = root + "/proc/";
  const auto all = simulated_processes(state);
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(proc, code)) {
    const std::string name = entry.path().filename();
    const auto pid = whole_number<std::uint32_t>(name);
    if (pid && !all.contains(*pid)) remove_all(entry.path());
  }
  for (const auto& [pid, runs] : all) {
    if (auto written = write_process(pid, runs, fmt::format("{}{}/", proc, pid)); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace stoker::simnode
