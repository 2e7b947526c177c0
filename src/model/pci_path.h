// Ground stage: where a PCI device hangs, from the CPU's host bridge down, and how far two devices are
// from one another. Pure: paths in, distance out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/pci_address.h"

namespace stoker {

// /sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:1b:00.0 is the device 0000:1b:00.0 behind the
// root port 0000:15:01.0 and the bridge 0000:16:00.0, below the host bridge of root bus 0000:15.
struct PciPath {
  std::uint32_t root_domain = 0;
  std::uint8_t root_bus = 0;
  std::vector<PciAddress> bridges;  // from the host bridge down
  PciAddress device;

  // A path of /sys/devices, or a link that ends in one. The last host bridge of it counts (Intel's VMD
  // puts one below another). invalid_input: there is none, or what follows are no PCI addresses.
  static Result<PciPath> parse(std::string_view text);

  [[nodiscard]] std::string root() const;   // "pci0000:15"
  [[nodiscard]] std::string sysfs() const;  // "/sys/devices/pci0000:15/.../0000:1b:00.0"
  friend bool operator==(const PciPath&, const PciPath&) = default;
};

// The words of `nvidia-smi topo`, nearest first; its legend says what each means.
enum class PcieDistance : std::uint8_t {
  self,
  pix,   // at most one bridge, or switch, between the two
  pxb,   // several, and no host bridge
  phb,   // over a host bridge
  node,  // over host bridges of one NUMA node
  sys,   // over the link between NUMA nodes
};

const char* to_string(PcieDistance distance);  // "X", "PIX", ...

// Symmetric. `numa` as sysfs says, -1 for none: two devices without one are taken to be on the same
// node (a machine with one), a device without one is SYS to a device with one.
PcieDistance distance(const PciPath& one, int one_numa, const PciPath& other, int other_numa);

}  // namespace stoker
