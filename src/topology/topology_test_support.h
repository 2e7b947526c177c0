// For tests: nodes as a driver and sysfs would tell them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "topology/topology.h"

namespace stoker::topology {

class NodeBuilder {
 public:
  NodeBuilder() {
    snapshot_.hostname = "node1";
    snapshot_.source.state = device::SourceState::running;
  }

  // A GPU at the end of `below` ("pci0000:00/0000:00:06.0"); `numa` as sysfs says.
  NodeBuilder& gpu(const std::string& below, int numa, const std::string& cpus = "0-15") {
    const PciPath path = parse(below);
    store::GpuSnapshot gpu;
    gpu.info.index = static_cast<std::uint32_t>(snapshot_.gpus.size());
    gpu.info.pci = path.device;
    gpu.info.uuid = "GPU-" + std::to_string(gpu.info.index);
    gpu.info.name = "NVIDIA H100 80GB HBM3";
    gpu.info.max_pcie_width = 16;
    gpu.readings.set(FieldId::pcie_width, Reading::of(std::int64_t{16}, {}));
    snapshot_.gpus.push_back(gpu);
    devices_.gpus[path.device] = {.path = path, .numa_node = numa, .local_cpus = cpus};
    return *this;
  }

  NodeBuilder& nic(const std::string& name, const std::string& below, int numa, double gbps = 400,
                   const std::string& state = "ACTIVE") {
    const PciPath path = parse(below);
    devices_.nics.push_back({.name = name,
                             .pci = path.device,
                             .place = PciPlace{.path = path, .numa_node = numa},
                             .link_layer = "InfiniBand",
                             .port_state = state,
                             .rate_gbps = gbps});
    return *this;
  }

  // Gives GPU `index` a further NVLink; `remote` is empty for an NVSwitch that can't be seen.
  NodeBuilder& link(std::size_t index, device::LinkEnd end, const std::string& remote = "",
                    bool up = true) {
    store::GpuSnapshot& gpu = snapshot_.gpus.at(index);
    const auto number = static_cast<std::uint32_t>(gpu.info.nvlinks.size());
    gpu.info.nvlinks.push_back({.link = number, .version = 7, .remote_pci = remote, .remote = end});
    gpu.nvlinks[number].set(FieldId::nvlink_state, Reading::of(std::int64_t{up ? 1 : 0}, {}));
    return *this;
  }
  // As HGX boards have it: `count` links of every GPU to switches.
  NodeBuilder& switched(unsigned count) {
    for (std::size_t gpu = 0; gpu < snapshot_.gpus.size(); ++gpu) {
      for (unsigned link_number = 0; link_number < count; ++link_number) {
        link(gpu, device::LinkEnd::nvswitch);
      }
    }
    return *this;
  }

  store::Snapshot& snapshot() { return snapshot_; }
  store::GpuSnapshot& card(std::size_t index) { return snapshot_.gpus.at(index); }
  NodeDevices& devices() { return devices_; }

  [[nodiscard]] Topology build() const {
    store::Snapshot told = snapshot_;
    told.devices = std::make_shared<const NodeDevices>(devices_);
    return topology::build(told);
  }

 private:
  static PciPath parse(const std::string& below) {
    const auto path = PciPath::parse(below);
    EXPECT_TRUE(path) << below;
    return path.value_or(PciPath{});
  }

  store::Snapshot snapshot_;
  NodeDevices devices_;
};

// Two sockets; every way of being connected occurs.
inline NodeBuilder every_distance() {
  NodeBuilder node;
  node.gpu("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:1b:00.0", 0, "0-31")
      .gpu("pci0000:15/0000:15:03.0/0000:43:00.0", 0, "0-31")
      .gpu("pci0000:4b/0000:4b:01.0/0000:52:00.0", 0, "0-31")
      .gpu("pci0000:97/0000:97:01.0/0000:9d:00.0", 1, "32-63")
      .nic("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:1a:00.0", 0)
      .nic("mlx5_1",
           "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1c:00.0/0000:1d:00.0/"
           "0000:1e:00.0",
           0);
  return node;
}

}  // namespace stoker::topology
