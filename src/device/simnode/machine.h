// Simulated node: what a machine is made of, read from a profile or a user's file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/products/product.h"
#include "model/pci_address.h"
#include "model/pci_path.h"

namespace stoker::simnode {

enum class NvLinkKind : std::uint8_t {
  none,      // off, or the cards have none
  nvswitch,  // every link ends at a switch
  peers,     // links are shared out evenly among the other GPUs
};

struct MachineGpu {
  std::string product;
  PciAddress pci;
  std::vector<PciAddress> bridges;  // from the host bridge down; empty: as path_of() says
  unsigned numa = 0;
  unsigned module = 0;
  std::string load;                    // empty: that of the machine
  std::vector<std::string> instances;  // MIG profiles; with any, MIG is on
};

struct MachineNic {
  std::string name;    // "mlx5_0"
  std::string netdev;  // "ib0"; empty: none
  PciAddress pci;
  std::vector<PciAddress> bridges;  // as of a GPU
  unsigned numa = 0;
  bool ethernet = false;
  unsigned rate_gbps = 0;
};

struct Machine {
  std::string name;  // the profile's, or the file's without folder and ".yaml"
  std::string description;
  std::string driver_version;
  int cuda_version = 0;
  bool virtual_machine = false;  // GPUs passed through; switches hidden
  bool captured_costs = false;   // calls take as long as on a real card
  std::string load;
  std::vector<std::vector<unsigned>> numa_cpus;  // CPUs of each NUMA node
  std::vector<std::string> numa_lists;           // the same as sysfs prints them
  NvLinkKind nvlink = NvLinkKind::none;
  std::vector<PciAddress> switches;
  std::uint32_t switch_device_id = 0;
  bool fabric = false;       // the fabric manager has finished
  std::string cluster_uuid;  // of a multi-node NVLink domain; empty: zeroes
  std::vector<MachineGpu> gpus;
  std::vector<MachineNic> nics;
  std::map<std::string, catalog::Product> products;  // all that `gpus` names
};

// Where a device hangs. Without bridges a device of bus 0 stands on the root bus, as in a VM, and any
// other has a root port and a host bridge of its own.
PciPath path_of(const PciAddress& device, const std::vector<PciAddress>& bridges);

// Reads a machine. Every mistake with file:line:column and what would be right (invalid_input);
// products come from `catalog_folder` first, then from the built-in ones.
Result<Machine> parse_machine(std::string_view text, const std::string& file,
                              const std::string& name, const std::string& catalog_folder);

// The profile `name` or the machine in `file`.
Result<Machine> load_profile(const std::string& name, const std::string& catalog_folder);
Result<Machine> load_machine(const std::string& file, const std::string& catalog_folder);

}  // namespace stoker::simnode
