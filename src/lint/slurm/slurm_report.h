// Analyzer stage: findings of Slurm's files, and their parts. Private to slurm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/slurm/slurm.h"
#include "lint/slurm/slurm_conf.h"

namespace stoker::lint {

class SlurmReport {
 public:
  Finding& add(std::string_view rule, const FileLocation& place, std::string message,
               std::vector<std::string> evidence = {});
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::vector<Finding> found_;
};

using SlurmLines = std::vector<SlurmLine>;

// Of all files that were given; empty where one was not.
struct SlurmCluster {
  SlurmLines slurm;
  SlurmLines gres;
  SlurmLines cgroup;
  std::string cgroup_file;
  bool has_cgroup = false;
};

void check_gres_conf(const SlurmLines& lines, SlurmReport& report);
void check_slurm_conf(const SlurmLines& lines, SlurmReport& report);
void check_cluster(const SlurmCluster& cluster, SlurmReport& report);

// GPUs that `gres` ("gpu:a100:4,gpu:2") names; -1: not said how many.
struct GresEntry {
  std::string name;
  std::string type;
  long long count = 1;
};
std::vector<GresEntry> gres_entries(std::string_view gres);

}  // namespace stoker::lint
