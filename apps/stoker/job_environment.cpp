#include "job_environment.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "cluster/cgroup_path.h"
#include "os/process_facts.h"

namespace stoker::app {
namespace {

constexpr std::array<std::string_view, 7> families = {
    "NCCL_*",     "TORCH_*",     "GLOO_*", "TP_SOCKET_IFNAME", "CUDA_LAUNCH_BLOCKING",
    "CUDA_MPS_*", "SHARP_COLL_*"};

Result<std::vector<lint::Variable>> variables_of(const os::Env& env, const os::ProcessId& id) {
  const auto read = os::read_environment(env, id, families);
  if (!read) return fail(read.error());
  std::vector<lint::Variable> variables;
  for (const auto& [name, value] : *read) {
    variables.push_back(
        {.name = name, .value = value, .place = {fmt::format("/proc/{}/environ", id.pid), 0, 0}});
  }
  return variables;
}

}  // namespace

Result<std::vector<lint::Variable>> environment_of_process(const os::Env& env, std::uint32_t pid) {
  const auto process = os::read_process(env, pid);
  if (!process) return fail(process.error());
  return variables_of(env, process->id);
}

std::vector<std::vector<lint::Variable>> environments_of_job(const os::Env& env,
                                                             const std::string& job,
                                                             std::vector<std::string>& unread) {
  std::vector<std::vector<lint::Variable>> found;
  const auto entries = env.list_folder("/proc");
  if (!entries) {
    unread.push_back(entries.error().message());
    return found;
  }
  for (const auto& entry : *entries) {
    const auto pid = whole_number<std::uint32_t>(entry);
    if (!pid) continue;
    const auto process = os::read_process(env, *pid);
    if (!process || cluster::parse_cgroup_file(process->cgroup).slurm_job != job) continue;
    auto variables = variables_of(env, process->id);
    if (variables) {
      found.push_back(*std::move(variables));
    } else if (variables.error().code() != ErrorCode::not_found) {  // not one that has ended since
      unread.push_back(fmt::format("process {}: {}", *pid, variables.error().message()));
    }
  }
  return found;
}

}  // namespace stoker::app
