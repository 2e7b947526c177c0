// Analyzer stage: what is wrong with Slurm's configuration of GPUs, and with batch scripts that ask for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/env/environment.h"
#include "lint/rule.h"

namespace stoker::lint {

enum class SlurmFileKind { none, gres_conf, slurm_conf, cgroup_conf, batch_script };

struct SlurmFile {
  std::string name;
  std::string_view text;
};

// The rows of slurm/rules.def.
RuleTable slurm_rules();

// By the last part of the name; a batch script by its `#!` and an `#SBATCH` behind it.
SlurmFileKind slurm_file_kind(std::string_view name, std::string_view text);

// Files of one cluster, judged one by one and together: only together it is known whether a node's GPUs are the same in
// slurm.conf and gres.conf, and whether cgroup.conf is one of a cluster with GPUs.
std::vector<Finding> lint_slurm_files(std::span<const SlurmFile> files);

// One batch script, with what it sets of NCCL's variables (env/environment.h).
std::vector<Finding> lint_batch_script(std::string_view text, const std::string& file,
                                       const EnvContext& context = {});

}  // namespace stoker::lint
