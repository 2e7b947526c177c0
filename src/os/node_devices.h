// Machine stage: where the node's GPUs and RDMA cards hang, as sysfs tells.
#pragma once

#include <string_view>

#include "model/node_devices.h"
#include "os/env.h"

namespace stoker::os {

// Reads /sys/bus/pci and /sys/class/infiniband. The state of a port is asked of its driver, which may
// take as long as it likes: not for a thread that somebody waits for.
NodeDevices read_node_devices(const Env& env);

// mlx5_2 before mlx5_10, as nvidia-smi orders its NICs.
bool natural_less(std::string_view one, std::string_view other);

}  // namespace stoker::os
