// Device stage: who is behind a process id that the driver told.
#pragma once

#include "device/nvml/driver.h"
#include "device/nvml/functions.h"

namespace stoker::nvml {

// By kill(pid, 0) and /proc/<pid>/comm: processes of this pid namespace.
ProcessLook look_up_in_proc(std::uint32_t pid);

// By the driver's own nvmlSystemGetProcessName, without saying whether it runs: for a simulated
// driver, whose processes exist nowhere else. `functions` outlives the result.
LookUpProcess look_up_in_driver(const abi::Functions& functions);

}  // namespace stoker::nvml
