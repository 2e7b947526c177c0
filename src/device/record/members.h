// Device stage: what a recording is made of beside the structs of device/members.h, in the same way. A reader skips members that it does not know, and those that are missing keep their
// default: so a recording can be read by other builds of Stoker. A member's name is for good.
#pragma once

#include "device/members.h"
#include "device/record/event.h"

namespace stoker::device::record {

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
template <typename Archive, Of<StatusTold> T>
void members(Archive& member, T& told) {
  member("status", told.status);
}
template <typename Archive, Of<DriverSeen> T>
void members(Archive& member, T& seen) {
  member("driver", seen.driver);
}
template <typename Archive, Of<InventorySeen> T>
void members(Archive& member, T& seen) {
  member("gpus", seen.gpus);
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
