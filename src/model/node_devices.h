// Ground stage: where a node's GPUs and RDMA cards hang, as plain data. os/node_devices.h reads it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/pci_address.h"
#include "model/pci_path.h"

namespace stoker {

struct PciPlace {
  PciPath path;
  int numa_node = -1;      // -1: the kernel knows none
  std::string local_cpus;  // "0-55,112-167"; empty: not told
  friend bool operator==(const PciPlace&, const PciPlace&) = default;
};

struct NicInfo {
  std::string name;                 // "mlx5_0"
  std::optional<PciAddress> pci;    // none: a software device (rxe, siw)
  std::optional<PciPlace> place;    // none: sysfs does not tell
  std::string link_layer;           // of its first port: "InfiniBand", "Ethernet"; empty: not told
  std::string port_state;           // "ACTIVE", "DOWN"; empty: not told
  std::optional<double> rate_gbps;  // Gbit/s
  friend bool operator==(const NicInfo&, const NicInfo&) = default;
};

struct NodeDevices {
  std::map<PciAddress, PciPlace> gpus;  // NVIDIA's display and 3D controllers
  std::vector<NicInfo> nics;            // by name, mlx5_2 before mlx5_10
  // Why one of the two could not be listed (not for want of such devices); empty: both were.
  std::string gpus_problem;
  std::string nics_problem;
  friend bool operator==(const NodeDevices&, const NodeDevices&) = default;
};

}  // namespace stoker
