#include "cluster/slurm_job.h"

#include <utility>

#include "base/utf8.h"

namespace stoker::cluster {
namespace {

constexpr std::size_t longest_number = 20;
constexpr std::size_t longest_name = 128;

std::string number_in(const std::map<std::string, std::string>& environment, const char* name) {
  const auto at = environment.find(name);
  if (at == environment.end() || at->second.size() > longest_number ||
      at->second.find_first_not_of("0123456789") != std::string::npos) {
    return {};
  }
  return at->second;
}

// Steps that are no number stand as one in the environment: slurm/slurm.h, SLURM_EXTERN_CONT,
// SLURM_BATCH_SCRIPT, SLURM_INTERACTIVE_STEP.
std::string step_in(const std::map<std::string, std::string>& environment) {
  std::string number = number_in(environment, "SLURM_STEP_ID");
  if (number == "4294967292") return "extern";
  if (number == "4294967291") return "batch";
  if (number == "4294967290") return "interactive";
  return number;
}

std::string name_in(const std::map<std::string, std::string>& environment) {
  const auto at = environment.find("SLURM_JOB_NAME");
  if (at == environment.end()) return {};
  // As far as it is text.
  std::size_t end = 0;
  while (end < at->second.size()) {
    const std::size_t length = utf8_length(at->second, end);
    if (length == 0 || end + length > longest_name) break;
    end += length;
  }
  return at->second.substr(0, end);
}

std::string array_in(const std::map<std::string, std::string>& environment) {
  std::string job = number_in(environment, "SLURM_ARRAY_JOB_ID");
  const std::string task = number_in(environment, "SLURM_ARRAY_TASK_ID");
  return job.empty() || task.empty() ? std::string() : std::move(job) + "_" + task;
}

}  // namespace

std::optional<SlurmJob> slurm_job_of(const CgroupOwner& cgroup,
                                     const std::map<std::string, std::string>& environment) {
  SlurmJob job{.id = cgroup.slurm_job, .step = cgroup.slurm_step};
  const std::string told = number_in(environment, "SLURM_JOB_ID");
  if (job.id.empty()) job.id = told;
  if (job.id.empty()) return std::nullopt;
  if (told != job.id) return job;
  if (job.step.empty()) job.step = step_in(environment);
  job.array = array_in(environment);
  job.name = name_in(environment);
  return job;
}

}  // namespace stoker::cluster
