#include "lint/slurm/slurm.h"

#include "base/text.h"
#include "lint/slurm/slurm_report.h"

namespace stoker::lint {

SlurmFileKind slurm_file_kind(std::string_view name, std::string_view text) {
  const auto slash = name.rfind('/');
  const auto base = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (base == "gres.conf") return SlurmFileKind::gres_conf;
  if (base == "slurm.conf") return SlurmFileKind::slurm_conf;
  if (base == "cgroup.conf") return SlurmFileKind::cgroup_conf;
  if (text.starts_with("#!") && text.find("\n#SBATCH") != std::string_view::npos) {
    return SlurmFileKind::batch_script;
  }
  return SlurmFileKind::none;
}

std::vector<Finding> lint_slurm_files(std::span<const SlurmFile> files) {
  SlurmReport report;
  SlurmCluster cluster;
  std::vector<Finding> found;
  for (const auto& file : files) {
    auto lines = read_slurm_conf(file.text, file.name);
    switch (slurm_file_kind(file.name, file.text)) {
      case SlurmFileKind::gres_conf:
        check_gres_conf(lines, report);
        cluster.gres = std::move(lines);
        break;
      case SlurmFileKind::slurm_conf:
        check_slurm_conf(lines, report);
        cluster.slurm = std::move(lines);
        break;
      case SlurmFileKind::cgroup_conf:
        cluster.cgroup = std::move(lines);
        cluster.cgroup_file = file.name;
        cluster.has_cgroup = true;
        break;
      case SlurmFileKind::batch_script: {
        auto of_script = lint_batch_script(file.text, file.name);
        found.insert(found.end(), of_script.begin(), of_script.end());
        break;
      }
      case SlurmFileKind::none: break;
    }
  }
  check_cluster(cluster, report);
  auto more = report.take();
  found.insert(found.end(), more.begin(), more.end());
  sort_findings(found);
  return found;
}

}  // namespace stoker::lint
