// Simulated node: /sys/devices/pci* and /sys/bus/pci, which links there. Attributes as Linux's
// drivers/pci/pci-sysfs.c prints them.
#include <fmt/format.h>

#include <set>

#include "device/simnode/fake_root.h"
#include "device/simnode/files.h"
#include "device/simnode/gpu_facts.h"

namespace stoker::simnode {
namespace {

constexpr std::uint32_t class_3d = 0x030200;
constexpr std::uint32_t class_infiniband = 0x020700;
constexpr std::uint32_t class_ethernet = 0x020000;
constexpr std::uint32_t class_bridge_other = 0x068000;  // NVSwitch
constexpr std::uint32_t class_bridge_pci = 0x060400;    // root ports and the ports of switches
constexpr std::uint32_t connectx7 = 0x102115b3;         // PCI ID database: MT2910 family
constexpr std::uint32_t connectx6 = 0x101b15b3;         // MT28908 family
constexpr unsigned lanes_without_answer = 63;           // all bits of the width field

struct PciDevice {
  PciPath path;
  std::uint32_t device_id = 0;  // device in the upper, vendor in the lower 16 bits; 0: not known
  std::uint32_t subsystem_id = 0;
  std::uint32_t device_class = 0;
  unsigned numa = 0;
  unsigned generation = 0;
  unsigned width = 0;
};

std::string speed_words(unsigned generation) {
  const std::uint32_t mtps = pcie_mtps(generation);
  return mtps == 0 ? "Unknown" : fmt::format("{}.{} GT/s PCIe", mtps / 1000, mtps % 1000 / 100);
}

class DeviceFolder {
 public:
  explicit DeviceFolder(std::string folder) : folder_(std::move(folder)) {}
  void put(const std::string& name, const std::string& text) {
    if (result_) result_ = write_file(folder_ + "/" + name, text + "\n");
  }
  [[nodiscard]] Result<void> result() const { return result_; }

 private:
  std::string folder_;
  Result<void> result_;
};

Result<void> write_device(const PciDevice& device, const Machine& machine,
                          const std::string& root) {
  DeviceFolder folder(root + device.path.sysfs());
  if (device.device_id != 0) {
    folder.put("vendor", fmt::format("{:#06x}", device.device_id & 0xFFFF));
    folder.put("device", fmt::format("{:#06x}", device.device_id >> 16U));
  }
  if (device.subsystem_id != 0) {
    folder.put("subsystem_vendor", fmt::format("{:#06x}", device.subsystem_id & 0xFFFF));
    folder.put("subsystem_device", fmt::format("{:#06x}", device.subsystem_id >> 16U));
  }
  folder.put("class", fmt::format("{:#08x}", device.device_class));
  folder.put("numa_node", std::to_string(device.numa));
  folder.put("local_cpulist", machine.numa_lists[device.numa]);
  folder.put("enable", "1");
  folder.put("current_link_speed", speed_words(device.generation));
  folder.put("current_link_width", std::to_string(device.width));
  folder.put("max_link_speed", speed_words(device.generation));
  folder.put("max_link_width", std::to_string(device.width));
  if (!folder.result()) return folder.result();
  return make_link("../../.." + device.path.sysfs().substr(std::string_view("/sys").size()),
                   root + pci_folder(device.path.device));
}

// Every bridge above a device, once, with the device's NUMA node and as fast as the device. Whose make a
// bridge is nobody has recorded, so it has no vendor.
void add_bridges(std::vector<PciDevice>& devices) {
  std::set<PciAddress> known;
  std::vector<PciDevice> bridges;
  for (const PciDevice& device : devices) {
    PciPath path{device.path.root_domain, device.path.root_bus, {}, {}};
    for (const PciAddress& bridge : device.path.bridges) {
      path.device = bridge;
      if (known.insert(bridge).second) {
        bridges.push_back(
            {path, 0, 0, class_bridge_pci, device.numa, device.generation, device.width});
      }
      path.bridges.push_back(bridge);
    }
  }
  devices.insert(devices.end(), bridges.begin(), bridges.end());
}

}  // namespace

PciAddress address_of(const sim::PciFacts& pci) {
  return {pci.domain, static_cast<std::uint8_t>(pci.bus), static_cast<std::uint8_t>(pci.device), 0};
}

std::string pci_folder(const PciAddress& pci) { return "/sys/bus/pci/devices/" + pci.sysfs(); }

Result<void> write_pci_link(const sim::PciFacts& pci, bool answers, const std::string& root) {
  DeviceFolder folder(root + pci_folder(address_of(pci)));
  folder.put("current_link_speed", answers ? speed_words(pci.generation) : "Unknown");
  folder.put("current_link_width", std::to_string(answers ? pci.width : lanes_without_answer));
  return folder.result();
}

Result<void> write_pci(const Machine& machine, const sim::State& state, const std::string& root) {
  std::vector<PciDevice> devices;
  for (unsigned i = 0; i < machine.gpus.size(); ++i) {
    const sim::PciFacts& pci = state.gpus[i].pci;
    devices.push_back({path_of(machine.gpus[i].pci, machine.gpus[i].bridges), pci.device_id,
                       pci.subsystem_id, class_3d, machine.gpus[i].numa, pci.generation,
                       pci.width});
  }
  for (const auto& nic : machine.nics) {
    const bool fast = nic.rate_gbps > 200;
    devices.push_back({path_of(nic.pci, nic.bridges), fast ? connectx7 : connectx6, 0,
                       nic.ethernet ? class_ethernet : class_infiniband, nic.numa, fast ? 5U : 4U,
                       16});
  }
  for (const auto& address : machine.switches) {
    devices.push_back(
        {path_of(address, {}), machine.switch_device_id, 0, class_bridge_other, 0, 4, 2});
  }
  add_bridges(devices);
  for (const auto& device : devices) {
    if (auto written = write_device(device, machine, root); !written) return written;
  }
  return {};
}

}  // namespace stoker::simnode
