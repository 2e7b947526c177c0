// Device stage: the structs of a recording, each with its members by name, in one place for both
// directions. A reader skips members that it does not know, and those that are missing keep their
// default: so a recording can be read by other builds of Stoker. A member's name is for good.
#pragma once

#include <concepts>
#include <type_traits>

#include "device/record/event.h"

namespace stoker::device::record {

template <typename T, typename Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

template <typename Archive, Of<Begin> T>
void members(Archive& member, T& begin) {
  member("wall", begin.wall);
  member("version", begin.version);
  member("hostname", begin.hostname);
  member("simulated_profile", begin.simulated_profile);
  member("periods", begin.periods);
  member("processes_period", begin.processes_period);
}
template <typename Archive, Of<WallTold> T>
void members(Archive& member, T& told) {
  member("wall", told.wall);
}
template <typename Archive, Of<SourceStatus> T>
void members(Archive& member, T& status) {
  member("state", status.state);
  member("detail", status.detail);
  member("probe_pid", status.probe_pid);
  member("stuck_probes", status.stuck_probes);
  member("unopened_gpus", status.unopened_gpus);
  member("restarts", status.restarts);
  member("since", status.since);
}
template <typename Archive, Of<StatusTold> T>
void members(Archive& member, T& told) {
  member("status", told.status);
}
template <typename Archive, Of<DriverInfo> T>
void members(Archive& member, T& driver) {
  member("driver_version", driver.driver_version);
  member("nvml_version", driver.nvml_version);
  member("cuda_version", driver.cuda_version);
  member("simulated", driver.simulated);
  member("abi_notes", driver.abi_notes);
}
template <typename Archive, Of<DriverSeen> T>
void members(Archive& member, T& seen) {
  member("driver", seen.driver);
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
template <typename Archive, Of<InventorySeen> T>
void members(Archive& member, T& seen) {
  member("gpus", seen.gpus);
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
template <typename Archive, Of<StateTold> T>
void members(Archive& member, T& told) {
  member("gpu", told.gpu);
  member("state", told.state);
  member("detail", told.detail);
}
template <typename Archive, Of<XidTold> T>
void members(Archive& member, T& told) {
  member("gpu", told.gpu);
  member("xid", told.xid);
  member("at", told.at);
}
template <typename Archive, Of<PciPath> T>
void members(Archive& member, T& path) {
  member("root_domain", path.root_domain);
  member("root_bus", path.root_bus);
  member("bridges", path.bridges);
  member("device", path.device);
}
template <typename Archive, Of<PciPlace> T>
void members(Archive& member, T& place) {
  member("path", place.path);
  member("numa_node", place.numa_node);
  member("local_cpus", place.local_cpus);
}
template <typename Archive, Of<NicInfo> T>
void members(Archive& member, T& nic) {
  member("name", nic.name);
  member("pci", nic.pci);
  member("place", nic.place);
  member("link_layer", nic.link_layer);
  member("port_state", nic.port_state);
  member("rate_gbps", nic.rate_gbps);
}
template <typename Archive, Of<NodeDevices> T>
void members(Archive& member, T& devices) {
  member("gpus", devices.gpus);
  member("nics", devices.nics);
  member("gpus_problem", devices.gpus_problem);
  member("nics_problem", devices.nics_problem);
}
template <typename Archive, Of<DevicesSeen> T>
void members(Archive& member, T& seen) {
  member("devices", seen.devices);
}
template <typename Archive, Of<End> T>
void members(Archive& member, T& end) {
  member("why", end.why);
}

}  // namespace stoker::device::record
