#include "health/recovery.h"

#include <array>
#include <charconv>

namespace stoker::health {
namespace {

struct RecoveryRow {
  std::int64_t value;
  int first_branch;
  Recovery meaning;
};

// nvmlDeviceGpuRecoveryAction_t. Values 0-4 stand in nvml.h since 12.8 and in the kernel module since
// 565.57.01, 5 since nvml.h 13.3 and 595.45.04 (_gpuRecoveryActionName in open-gpu-kernel-modules'
// gpu.c).
constexpr auto recovery_rows = std::to_array<RecoveryRow>({
    {1, 565, {Action::reset_gpu, "reset the GPU", "Take the work off this GPU, then reset it"}},
    {2, 565, {Action::reboot, "reboot the node", "Take the work off this node, then reboot it"}},
    {3,
     565,
     {Action::drain_p2p, "drain peer-to-peer work",
      "End the jobs that use this GPU together with others; work on this GPU alone may go on"}},
    {4,
     565,
     {Action::reset_gpu, "drain peer-to-peer work, then reset the GPU",
      "Start nothing new on this GPU, let its work end, then reset it"}},
    {5,
     595,
     {Action::recover_imex_domain, "recover the IMEX domain",
      "End the jobs that share memory across nodes and restart their IMEX domain"}},
});

int branch_of(std::string_view driver_version) {
  int branch = 0;
  std::from_chars(driver_version.data(), driver_version.data() + driver_version.size(), branch);
  return branch;
}

}  // namespace

Recovery recovery_of(std::int64_t value, std::string_view driver_version) {
  const int branch = branch_of(driver_version);
  for (const RecoveryRow& row : recovery_rows) {
    if (row.value == value && (branch == 0 || branch >= row.first_branch)) return row.meaning;
  }
  return {.action = Action::contact_vendor,
          .name = {},
          .fix = "Take the work off this GPU and ask NVIDIA what this value means for this driver"};
}

}  // namespace stoker::health
