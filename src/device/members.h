// Device stage: the structs of api.h, each with its members by name, in one place. What carries them
// elsewhere (the probe protocol, recordings) is an archive: an object that is called once a member, in
// this order, with its name and itself. A member's name is for good: recordings keep it.
#pragma once

#include <concepts>
#include <type_traits>

#include "device/api.h"

namespace stoker::device {

template <typename T, typename Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

template <typename Archive, Of<SourceStatus> T>
void members(Archive& member, T& status) {
  member("state", status.state);
  member("detail", status.detail);
  member("probe_pid", status.probe_pid);
  member("stuck_probes", status.stuck_probes);
  member("unopened_gpus", status.unopened_gpus);
  member("forbidden_gpus", status.forbidden_gpus);
  member("restarts", status.restarts);
  member("since", status.since);
}
template <typename Archive, Of<DriverInfo> T>
void members(Archive& member, T& driver) {
  member("driver_version", driver.driver_version);
  member("nvml_version", driver.nvml_version);
  member("cuda_version", driver.cuda_version);
  member("simulated", driver.simulated);
  member("abi_notes", driver.abi_notes);
}
template <typename Archive, Of<MigInfo> T>
void members(Archive& member, T& mig) {
  member("uuid", mig.uuid);
  member("profile", mig.profile);
  member("gpu_instance", mig.gpu_instance);
  member("compute_instance", mig.compute_instance);
  member("memory_bytes", mig.memory_bytes);
  member("multiprocessors", mig.multiprocessors);
}
template <typename Archive, Of<NvLinkInfo> T>
void members(Archive& member, T& link) {
  member("link", link.link);
  member("version", link.version);
  member("remote_pci", link.remote_pci);
  member("remote", link.remote);
}
template <typename Archive, Of<GpuInfo> T>
void members(Archive& member, T& gpu) {
  member("index", gpu.index);
  member("pci", gpu.pci);
  member("uuid", gpu.uuid);
  member("name", gpu.name);
  member("serial", gpu.serial);
  member("brand", gpu.brand);
  member("vbios", gpu.vbios);
  member("board_part", gpu.board_part);
  member("inforom", gpu.inforom);
  member("architecture", gpu.architecture);
  member("compute_capability", gpu.compute_capability);
  member("minor", gpu.minor);
  member("numa_node", gpu.numa_node);
  member("memory_node", gpu.memory_node);
  member("cores", gpu.cores);
  member("memory_bytes", gpu.memory_bytes);
  member("slowdown_celsius", gpu.slowdown_celsius);
  member("shutdown_celsius", gpu.shutdown_celsius);
  member("max_memory_celsius", gpu.max_memory_celsius);
  member("max_operating_celsius", gpu.max_operating_celsius);
  member("power_limit_min_watts", gpu.power_limit_min_watts);
  member("power_limit_max_watts", gpu.power_limit_max_watts);
  member("power_limit_default_watts", gpu.power_limit_default_watts);
  member("max_sm_clock_mhz", gpu.max_sm_clock_mhz);
  member("max_memory_clock_mhz", gpu.max_memory_clock_mhz);
  member("max_pcie_generation", gpu.max_pcie_generation);
  member("max_pcie_width", gpu.max_pcie_width);
  member("gpm", gpu.gpm);
  member("mig_enabled", gpu.mig_enabled);
  member("migs", gpu.migs);
  member("nvlinks", gpu.nvlinks);
}
template <typename Archive, Of<ProcessInfo> T>
void members(Archive& member, T& process) {
  member("pid", process.pid);
  member("compute", process.compute);
  member("memory_known", process.memory_known);
  member("memory_bytes", process.memory_bytes);
  member("gpu_instance", process.gpu_instance);
  member("compute_instance", process.compute_instance);
  member("name", process.name);
}

}  // namespace stoker::device
