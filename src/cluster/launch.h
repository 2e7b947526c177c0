// Cluster stage: which launch of several ranks a process belongs to. Pure.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "cluster/cgroup_path.h"
#include "model/attribution.h"

namespace stoker::cluster {

// What launchers put into the environment of a rank, and what is read of it, nothing else: torchrun and PyTorch's
// operators (https://docs.pytorch.org/docs/stable/elastic/run.html), Open MPI
// (https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html), srun(1).
inline constexpr std::array<std::string_view, 9> launch_variables = {
    "MASTER_ADDR",  "MASTER_PORT",          "WORLD_SIZE",           "RANK",        "PMIX_NAMESPACE",
    "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"};

// Empty where the environment, which its user can write, names none, or one of a single rank. An address that means
// this host alone is told apart by the container.
Launch launch_of(const CgroupOwner& cgroup, const std::map<std::string, std::string>& environment);

}  // namespace stoker::cluster
