#include "topology/drawing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "model/wrap.h"
#include "topology/topology_test_support.h"

namespace stoker::topology {
namespace {

using device::LinkEnd;

TEST(Drawing, ShowsWhereWaysPartAndNothingElse) {
  auto node = every_distance();
  node.link(0, LinkEnd::gpu, "0000:43:00.0").link(1, LinkEnd::gpu, "0000:1b:00.0");
  EXPECT_EQ(drawing(node.build()),
            R"(node1: 4 GPUs, 2 NICs

NUMA node 0, CPUs 0-31
├─ pci0000:15
│  ├─ switch 0000:16:00.0
│  │  ├─ mlx5_0  0000:1a:00.0  InfiniBand 400 Gb/s, ACTIVE
│  │  ├─ GPU0    0000:1b:00.0  H100 80GB HBM3, x16, 1/1 NVLinks
│  │  └─ mlx5_1  0000:1e:00.0  InfiniBand 400 Gb/s, ACTIVE
│  └─ GPU1    0000:43:00.0  H100 80GB HBM3, x16, 1/1 NVLinks
└─ pci0000:4b ─ GPU2    0000:52:00.0  H100 80GB HBM3, x16

NUMA node 1, CPUs 32-63
└─ pci0000:97 ─ GPU3    0000:9d:00.0  H100 80GB HBM3, x16

GPU to GPU   SYS between every two but these
  NODE       GPU0-GPU2 GPU1-GPU2
  NV1        GPU0-GPU1

NIC of each GPU (nearest with an active port)
  GPU0    PIX   mlx5_0
  GPU1    PHB   mlx5_0, mlx5_1
  GPU2    NODE  mlx5_0, mlx5_1
  GPU3    SYS   mlx5_0, mlx5_1
For NCCL to use these alone:
NCCL_IB_HCA==mlx5_0,mlx5_1

Odd
  GPU2    has 0 NVLinks, its peers 1
  GPU3    has 0 NVLinks, its peers 1
)");
}

TEST(Drawing, NoLineIsWiderThanATerminalWhateverTheNames) {
  NodeBuilder node;
  for (unsigned n = 0; n < 20; ++n) {
    node.gpu(fmt::format("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:{:02x}.0/0000:{:02x}:00.0",
                         n, 0x20 + n),
             0, "0-7,16-23,32-39,48-55,64-71,80-87,96-103,112-119,128-135,144-151,160-167");
    node.card(n).info.name = "NVIDIA H100 with a name that no card has ever had before";
    node.nic(fmt::format("a_long_name_of_a_card_{}", n),
             fmt::format("pci0000:15/0000:15:01.0/0000:16:00.0/0000:18:{:02x}.0/0000:{:02x}:00.0",
                         n, 0x60 + n),
             0);
  }
  node.switched(18);
  node.card(3).nvlinks[0].set(FieldId::nvlink_state, Reading::of(std::int64_t{0}, {}));
  std::istringstream lines(drawing(node.build()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80U) << line;
}

TEST(Drawing, ADeviceThatSysfsDoesNotTellIsStillThere) {
  auto node = every_distance();
  node.devices().gpus.erase(node.card(3).info.pci);
  const std::string text = drawing(node.build());
  EXPECT_NE(text.find("\nPlace not known\n   GPU3    0000:9d:00.0"), std::string::npos) << text;
}

}  // namespace
}  // namespace stoker::topology
