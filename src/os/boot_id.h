// Machine stage: which boot of the machine this is.
#pragma once

#include <string>

#include "os/env.h"

namespace stoker::os {

// As the kernel has it (/proc/sys/kernel/random/boot_id); empty: it can't be read.
std::string boot_id(const Env& env);

}  // namespace stoker::os
