#include "topology/advice.h"

#include <gtest/gtest.h>

#include "topology/topology_test_support.h"

namespace stoker::topology {
namespace {

using device::LinkEnd;

std::vector<std::string> said(const Topology& topology) {
  std::vector<std::string> all;
  for (const Remark& remark : remarks(topology)) all.push_back(remark.about + " " + remark.message);
  return all;
}
using Said = std::vector<std::string>;

// Two GPUs, each behind a switch with a NIC; `second` is where the second NIC hangs.
NodeBuilder two_pairs(
    const std::string& second = "pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:00.0/0000:9c:00.0",
    int numa = 1) {
  NodeBuilder node;
  node.gpu("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:1b:00.0", 0)
      .gpu("pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:01.0/0000:9d:00.0", 1)
      .gpu("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1c:00.0", 0)
      .nic("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:1a:00.0", 0)
      .nic("mlx5_1", second, numa);
  return node;
}

TEST(Advice, TheNicBehindTheSameSwitchIsAGpusNic) {
  const auto topology = two_pairs().build();
  EXPECT_EQ(nearest_nics(topology, 0).nics, std::vector<std::size_t>{0});
  EXPECT_EQ(nearest_nics(topology, 1).nics, std::vector<std::size_t>{1});
  EXPECT_EQ(nearest_nics(topology, 1).distance, PcieDistance::pix);
  EXPECT_EQ(nccl_ib_hca(topology), "=mlx5_0,mlx5_1");
  EXPECT_EQ(said(topology), Said{});
}

TEST(Advice, ANicOnTheOtherSocketIsOddWhereOthersHaveOneNearby) {
  const auto topology = two_pairs("pci0000:28/0000:28:01.0/0000:29:00.0", 0).build();
  EXPECT_EQ(said(topology),
            Said{"GPU1 its nearest NIC is mlx5_0 over SYS; other GPUs have one at PIX"});
}

TEST(Advice, APortThatIsDownIsNobodysNic) {
  auto node = two_pairs();
  node.devices().nics[1].port_state = "DOWN";
  const auto topology = node.build();
  EXPECT_EQ(nearest_nics(topology, 1).nics, std::vector<std::size_t>{0});
  EXPECT_EQ(nccl_ib_hca(topology), "=mlx5_0");
  EXPECT_EQ(said(topology),
            (Said{"GPU1 its nearest NIC is mlx5_0 over SYS; other GPUs have one at PIX",
                  "mlx5_1 its port is DOWN: not counted as anybody's NIC"}));
}

TEST(Advice, OfTwoEquallyNearTheFasterOneIsChosen) {
  auto node = two_pairs();
  node.nic("mlx5_2", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:03.0/0000:1d:00.0", 0, 100);
  node.nic("mlx5_3", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:04.0/0000:1e:00.0", 0, 400);
  const auto topology = node.build();
  EXPECT_EQ(nearest_nics(topology, 0).nics, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(said(topology), Said{"mlx5_2 runs at 100 Gb/s, other InfiniBand ports at 400"});
}

TEST(Advice, NoNicWithAnActivePortLeavesNothingToName) {
  auto node = two_pairs();
  for (auto& nic : node.devices().nics) nic.port_state = "DOWN";
  const auto topology = node.build();
  EXPECT_TRUE(nearest_nics(topology, 0).nics.empty());
  EXPECT_EQ(nccl_ib_hca(topology), "");
  EXPECT_EQ(said(topology).front(), "GPU0 reaches no NIC with an active port");
}

TEST(Advice, FewerLinksOrLanesThanItsPeersIsOdd) {
  auto node = two_pairs();
  node.switched(18).link(0, LinkEnd::nvswitch, "", false);
  node.card(1).readings.set(FieldId::pcie_width, Reading::of(std::int64_t{8}, {}));
  EXPECT_EQ(said(node.build()),
            (Said{"GPU0 18 of its 19 NVLinks are up", "GPU1 its PCIe link has 8 of 16 lanes"}));
}

TEST(Advice, WhatIsNotKnownIsSaid) {
  auto node = two_pairs();
  node.card(1).state = device::GpuState::lost;
  node.devices().nics[0].port_state.clear();
  node.devices().nics_problem = "list /sys/class/infiniband: permission denied";
  const auto all = said(node.build());
  EXPECT_EQ(all[0], "node1 not all is known: list /sys/class/infiniband: permission denied");
  EXPECT_EQ(all[1], "GPU1 is lost: its NVLinks are not known");
  EXPECT_EQ(all.back(), "mlx5_0 the state of its port is not known");
  EXPECT_EQ(said(build(node.snapshot())).front(), "node1 where its devices hang is not read yet");
}

}  // namespace
}  // namespace stoker::topology
