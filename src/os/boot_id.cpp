#include "os/boot_id.h"

#include "base/text.h"

namespace stoker::os {

std::string boot_id(const Env& env) {
  const auto id = env.read_file("/proc/sys/kernel/random/boot_id");
  return id ? std::string(trimmed(*id, " \n")) : std::string();
}

}  // namespace stoker::os
