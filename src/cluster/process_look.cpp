#include "cluster/process_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cluster/launch.h"
#include "cluster/slurm_job.h"
#include "os/process_work.h"

namespace stoker::cluster {
namespace {

constexpr std::size_t longest_user = 256;  // useradd(8): 32; LDAP knows longer ones

// A pid in the lists of one or several GPUs.
struct Listed {
  MonotonicTime at;   // of the oldest list that has it
  bool rests = true;  // no kernel runs on any of them
  std::vector<std::string> devices;
};

// The UUID of what the process runs on: its MIG device where it has one that is known.
std::string device_of(const device::GpuInfo& gpu, const device::ProcessInfo& process) {
  if (process.gpu_instance == device::no_instance) return gpu.uuid;
  const auto mig = std::ranges::find_if(gpu.migs, [&](const device::MigInfo& one) {
    return one.gpu_instance == process.gpu_instance &&
           (one.compute_instance == process.compute_instance ||
            process.compute_instance == device::no_instance);
  });
  return mig == gpu.migs.end() ? std::string() : mig->uuid;
}

// Next to nothing: what a kernel a second shows is more.
bool rests(const store::GpuSnapshot& gpu) {
  const Reading used = gpu.readings.get(FieldId::utilization);
  return used.ok() && as_double(used.value) < 5;
}

std::map<std::uint32_t, Listed> listed_in(const store::Snapshot& snapshot) {
  std::map<std::uint32_t, Listed> listed;
  for (const store::GpuSnapshot& gpu : snapshot.gpus) {
    for (const device::ProcessInfo& process : gpu.processes) {
      const MonotonicTime at = gpu.process_outcome.taken_at;
      Listed& one = listed.try_emplace(process.pid, Listed{.at = at, .devices = {}}).first->second;
      one.at = std::min(one.at, at);
      one.rests = one.rests && rests(gpu);
      if (auto uuid = device_of(gpu.info, process); !uuid.empty()) {
        one.devices.push_back(std::move(uuid));
      }
    }
  }
  return listed;
}

constexpr auto variables = [] {
  std::array<std::string_view, slurm_variables.size() + launch_variables.size()> all;
  std::ranges::copy(launch_variables, std::ranges::copy(slurm_variables, all.begin()).out);
  return all;
}();

constexpr const char* other_pids =
    "this agent is in a pid namespace of its own, where the pids that the driver tells are other "
    "processes: set hostPID: true for its pod, or start its container with --pid=host";
constexpr const char* hidden =
    "/proc hides the processes of other users (hidepid): run the agent as root, or in the group of "
    "/proc's mount option gid";
constexpr const char* no_environments =
    "environments of other users' processes can't be read, so Slurm jobs have no name, and are not "
    "known where no cgroup says them: run the agent as root or with CAP_SYS_PTRACE";

}  // namespace

// What one look runs into.
struct ProcessLook::Outcome {
  std::map<os::ProcessId, Known> present;
  bool refused = false;
  bool environment_refused = false;
};

const std::map<std::string, std::string>& ProcessLook::environment_of(const os::ProcessId& id,
                                                                      Known& known,
                                                                      Outcome& outcome) {
  static const std::map<std::string, std::string> nothing;
  if (!known.environment) {
    auto read = os::read_environment(env_, id, variables);
    if (!read) {
      outcome.environment_refused |= read.error().code() == ErrorCode::no_permission;
      return nothing;
    }
    known.environment = std::move(*read);
  }
  return *known.environment;
}

// To look through a family costs a few small files for each of its threads: where work goes on, nobody asks.
HostWork ProcessLook::work_of(const os::ProcessId& id, bool rests, Known& known) const {
  const MonotonicTime now = env_.clock().monotonic();
  if (!rests) {
    known.work.forget();
  } else if (known.work.is_due(now)) {
    known.work.take(os::read_work(env_, id), now);
  }
  return known.work.told();
}

std::optional<ProcessEvidence> ProcessLook::evidence_of(std::uint32_t pid, MonotonicTime listed_at,
                                                        bool rests, Outcome& outcome) {
  const auto facts = os::read_process(env_, pid);
  if (!facts) {
    outcome.refused |= facts.error().code() == ErrorCode::no_permission ||
                       (pid <= os::pid_max_limit && !env_.exists("/proc/1/stat"));
    return std::nullopt;
  }
  const auto before = known_.find(facts->id);
  Known known;
  if (before != known_.end()) {
    known = std::move(before->second);
  } else {
    const auto start = os::latest_start(env_, facts->id.start_ticks);
    if (!start) return std::nullopt;
    known.latest_start = *start;
  }
  std::optional<ProcessEvidence> evidence;
  if (known.latest_start <= listed_at) {
    evidence.emplace();
    evidence->began = known.latest_start;
    evidence->uid = facts->uid;
    if (facts->uid) evidence->user = users_.name_of(*facts->uid).substr(0, longest_user);
    evidence->cgroup = parse_cgroup_file(facts->cgroup);
    const auto& environment = environment_of(facts->id, known, outcome);
    evidence->job = slurm_job_of(evidence->cgroup, environment);
    evidence->launch = launch_of(evidence->cgroup, environment);
    evidence->work = work_of(facts->id, rests, known);
  }
  outcome.present.emplace(facts->id, std::move(known));
  return evidence;
}

ProcessLook::Seen ProcessLook::look(const store::Snapshot& snapshot) {
  const bool host_pids = os::shows_host_pids(env_);
  Seen seen;
  seen.source = {.reason = Reason::ok, .at = env_.clock().monotonic()};
  const auto listed = listed_in(snapshot);
  Outcome outcome;
  bool unseen = listed.empty();
  for (const auto& [pid, on] : listed) {
    // A process that exists on a simulated node alone is in no pid namespace.
    if (!host_pids && pid <= os::pid_max_limit) {
      unseen = true;
      continue;
    }
    auto evidence = evidence_of(pid, on.at, on.rests, outcome);
    if (!evidence) continue;
    evidence->devices = on.devices;
    seen.processes.emplace(pid, std::move(*evidence));
  }
  seen.anybody_new = std::ranges::any_of(
      outcome.present, [&](const auto& one) { return !known_.contains(one.first); });
  known_ = std::move(outcome.present);
  if (!host_pids && unseen) {
    seen.source.reason = Reason::no_permission;
    seen.source.detail = other_pids;
  } else if (outcome.refused) {
    seen.source.reason = Reason::no_permission;
    seen.source.detail = hidden;
  } else if (outcome.environment_refused) {
    seen.source.detail = no_environments;
  }
  return seen;
}

}  // namespace stoker::cluster
