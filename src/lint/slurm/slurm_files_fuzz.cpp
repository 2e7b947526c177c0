// Any bytes as each of Slurm's files and as a batch script.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lint/slurm/slurm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string script = "#!/bin/sh\n#SBATCH -N 2\n" + std::string(text);
  const std::vector<lint::SlurmFile> files = {
      {"gres.conf", text}, {"slurm.conf", text}, {"cgroup.conf", text}, {"job.sh", script}};
  for (const auto& finding : lint::lint_slurm_files(files)) {
    if (!finding.location || finding.location->line < 1) std::abort();
  }
  return 0;
}
