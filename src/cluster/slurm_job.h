// Cluster stage: which Slurm job a process belongs to. Pure.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/cgroup_path.h"
#include "model/attribution.h"

namespace stoker::cluster {

// What Slurm puts into a task's environment (srun(1), sbatch(1), "OUTPUT ENVIRONMENT VARIABLES") and
// what is read of it, nothing else.
inline constexpr std::array<std::string_view, 5> slurm_variables = {
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_NAME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"};

// The job that the cgroup names; only where it names none the one of the environment, which its user
// can write. The job's name and array come from an environment that speaks of the same job alone.
std::optional<SlurmJob> slurm_job_of(const CgroupOwner& cgroup,
                                     const std::map<std::string, std::string>& environment);

}  // namespace stoker::cluster
