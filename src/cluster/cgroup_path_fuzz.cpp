// Fuzzes the reader of /proc/PID/cgroup: whatever a runtime calls its cgroups, the answer is bounded.
#include <cstdint>
#include <cstdlib>

#include "cluster/cgroup_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto owner =
      stoker::cluster::parse_cgroup_file({reinterpret_cast<const char*>(data), size});
  const bool bounded =
      (owner.container_id.empty() || owner.container_id.size() == 64) &&
      (owner.pod_uid.empty() || owner.pod_uid.size() == 36 || owner.pod_uid.size() == 32) &&
      owner.runtime.size() <= 10 && owner.slurm_job.size() <= 32 && owner.slurm_step.size() <= 32;
  if (!bounded) std::abort();
  return 0;
}
