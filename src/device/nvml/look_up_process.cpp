#include "device/nvml/look_up_process.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

namespace stoker::nvml {

ProcessLook look_up_in_proc(std::uint32_t pid) {
  using Presence = ProcessLook::Presence;
  ProcessLook look;
  // Not permitted still means that there is one; it also sees through /proc mounted with hidepid.
  const bool runs = ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  look.presence = runs ? Presence::running : Presence::absent;
  if (!runs) return look;
  std::ifstream comm(fmt::format("/proc/{}/comm", pid));
  std::getline(comm, look.name);
  return look;
}

LookUpProcess look_up_in_driver(const abi::Functions& functions) {
  return [&functions](std::uint32_t pid) {
    ProcessLook look;
    std::array<char, 256> name{};
    if (functions.nvmlSystemGetProcessName == nullptr ||
        functions.nvmlSystemGetProcessName(pid, name.data(), name.size() - 1) !=
            abi::Return::success) {
      return look;
    }
    look.name = name.data();
    look.name.erase(0, look.name.rfind('/') + 1);  // npos + 1 is 0: no folder, nothing to cut
    return look;
  };
}

}  // namespace stoker::nvml
