#include "device/nvml/status.h"

#include <fmt/format.h>

namespace stoker::nvml {

// Meanings: nvmlReturn_t in NVML's reference, docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs
Reason reason_of(abi::Return code) {
  using abi::Return;
  switch (code) {
    case Return::success: return Reason::ok;
    case Return::not_supported:
    case Return::function_not_found:
    case Return::vgpu_ecc_not_supported:
    case Return::argument_version_mismatch:  // this library doesn't know the struct's version
    case Return::deprecated: return Reason::not_supported;
    case Return::no_permission:
    case Return::operating_system: return Reason::no_permission;  // "blocked" by OS or cgroup
    case Return::gpu_is_lost:
    case Return::gpu_not_found: return Reason::lost;
    case Return::uninitialized:
    case Return::driver_not_loaded:
    case Return::library_not_found:
    case Return::lib_rm_version_mismatch: return Reason::driver_gone;
    case Return::no_data:
    case Return::not_ready: return Reason::pending;
    default: return Reason::failed;
  }
}

bool driver_is_gone(abi::Return code) { return reason_of(code) == Reason::driver_gone; }

DriverFailure start_failure(abi::Return code, const std::string& code_text,
                            const std::string& library) {
  using abi::Return;
  using device::SourceState;
  switch (code) {
    case Return::driver_not_loaded:
      return {
          SourceState::driver_missing,
          "the NVIDIA kernel driver is not loaded. Load it (modprobe nvidia); if that fails, "
          "`dmesg | grep NVRM` says why. In a container, the node's /dev/nvidia* must be there"};
    case Return::library_not_found:
      return {SourceState::library_missing,
              fmt::format("{} misses a library of the same driver (NVML error 12): the driver's "
                          "user part is incomplete. Install it again, all of one version",
                          library)};
    case Return::lib_rm_version_mismatch:
      return {
          SourceState::version_mismatch,
          fmt::format("{} and the loaded kernel module are of different driver versions (NVML "
                      "error 18), as after an update without a restart. Stop what uses the GPUs "
                      "and reload the nvidia modules, or reboot; /proc/driver/nvidia/version "
                      "says which is loaded",
                      library)};
    case Return::no_permission:
      return {
          SourceState::no_permission,
          "the driver refused this user (NVML error 4). Let it read and write /dev/nvidiactl and "
          "/dev/nvidia*, by its group or by running as root; in a container, allow the devices"};
    case Return::operating_system:
      return {
          SourceState::no_permission,
          "the operating system or this process's cgroup has blocked the driver's devices (NVML "
          "error 17). In a container, run it with the NVIDIA runtime or allow /dev/nvidiactl and "
          "/dev/nvidia*; else see the unit's DeviceAllow="};
    default:
      return {
          SourceState::failed,
          fmt::format("NVML does not start: {} (error {}). `dmesg | grep -i -e NVRM -e Xid` may "
                      "say why",
                      code_text, static_cast<int>(code))};
  }
}

}  // namespace stoker::nvml
