// Any bytes as one of Slurm's files or as a batch script; the first byte says which, and any other: as all of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lint/slurm/slurm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto which = all.empty() ? std::string_view::npos : std::string_view("gscj").find(all[0]);
  const auto text = which == std::string_view::npos ? all : all.substr(1);
  const std::string script = "#!/bin/sh\n#SBATCH -N 2\n" + std::string(text);
  std::vector<lint::SlurmFile> files = {
      {"gres.conf", text}, {"slurm.conf", text}, {"cgroup.conf", text}, {"job.sh", script}};
  if (which < files.size()) files = {files[which]};
  for (const auto& finding : lint::lint_slurm_files(files)) {
    if (!finding.location || finding.location->line < 1) std::abort();
  }
  return 0;
}
