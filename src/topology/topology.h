// Topology: what lies between a node's GPUs and NICs. Pure: a Snapshot in, distances out; matrix.h,
// drawing.h and advice.h say the same for programs and for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/pci_address.h"
#include "model/pci_path.h"
#include "model/reading.h"
#include "store/snapshot.h"

namespace stoker::topology {

// What connects two devices: NVLinks where there are any, else PCIe, else nothing that is known.
struct Connection {
  enum class Kind : std::uint8_t { unknown, pcie, nvlink };
  Kind kind = Kind::unknown;
  PcieDistance pcie = PcieDistance::sys;
  unsigned links = 0;  // NVLinks

  // "X", "NV18", "PIX", ...; "N/A" for unknown.
  [[nodiscard]] std::string word() const;
  static Result<Connection> parse(std::string_view word);
  friend bool operator==(const Connection&, const Connection&) = default;
};

struct GpuNode {
  std::uint32_t index = 0;
  std::string uuid;
  std::string name;
  PciAddress pci;
  std::string state;                 // device::GpuState as a word
  std::optional<PciPath> path;       // none: sysfs does not tell
  int numa_node = -1;                // near it; -1: none is known
  std::string cpus;                  // near it; empty: not told
  int memory_node = -1;              // the GPU's own memory as a NUMA node (Grace); -1: it is none
  unsigned links = 0;                // NVLinks that it has
  std::optional<unsigned> links_up;  // none: not known of every link
  Reason links_reason = Reason::ok;  // why
  std::optional<unsigned> pcie_width;  // lanes now
  Reason width_reason = Reason::ok;    // why there is none
  unsigned max_pcie_width = 0;         // 0: not told
};

struct NicNode {
  std::string name;
  std::optional<PciAddress> pci;
  std::optional<PciPath> path;
  int numa_node = -1;
  std::string link_layer;  // empty: not told
  std::string port_state;  // empty: not told
  std::optional<double> rate_gbps;
  [[nodiscard]] bool active() const { return port_state == "ACTIVE"; }
};

struct Topology {
  std::string hostname;
  bool simulated = false;
  bool devices_read = false;  // false: sysfs has not been read yet, so no NIC and no path is known
  std::string problem;        // why GPUs' places or NICs could not be listed; empty: they could
  std::vector<GpuNode> gpus;  // by index
  std::vector<NicNode> nics;
  std::vector<std::vector<Connection>> table;  // GPUs first, then NICs; symmetric

  [[nodiscard]] const Connection& between_gpus(std::size_t one, std::size_t other) const {
    return table.at(one).at(other);
  }
  [[nodiscard]] const Connection& to_nic(std::size_t gpu, std::size_t nic) const {
    return table.at(gpu).at(gpus.size() + nic);
  }
};

// GPUs that are lost keep their place and have no NVLinks that are known.
Topology build(const store::Snapshot& snapshot);

// "GPU0", "NIC3": what nvidia-smi calls row `place` of the table.
std::string row_name(const Topology& topology, std::size_t place);

}  // namespace stoker::topology
