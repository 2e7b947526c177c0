// Machine stage: the Env of a machine, real or simulated, over two roots.
#pragma once

#include <memory>
#include <string>

#include "os/env.h"

namespace stoker::os {

// An Env that looks for the devices' files (/proc/driver, /sys/bus/pci, /sys/class/infiniband,
// /dev/kmsg, /dev/nvidia*, processes above pid_max_limit) below `device_root` and for everything else below `host_root`. A symbolic
// link, absolute or with "..", is followed as if its root were "/": nothing outside is ever read.
std::unique_ptr<Env> make_system_env(std::string host_root = "/", std::string device_root = "/");

}  // namespace stoker::os
