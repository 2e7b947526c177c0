#include "topology/topology.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "topology/topology_test_support.h"

namespace stoker::topology {
namespace {

using device::LinkEnd;

std::vector<std::string> words(const Topology& topology, std::size_t place) {
  std::vector<std::string> all;
  for (const Connection& way : topology.table.at(place)) all.push_back(way.word());
  return all;
}
using Words = std::vector<std::string>;

TEST(Topology, EveryPcieDistanceIsTold) {
  const auto topology = every_distance().build();
  EXPECT_EQ(words(topology, 0), (Words{"X", "PHB", "NODE", "SYS", "PIX", "PXB"}));
  EXPECT_EQ(words(topology, 3), (Words{"SYS", "SYS", "SYS", "X", "SYS", "SYS"}));
  EXPECT_EQ(words(topology, 4), (Words{"PIX", "PHB", "NODE", "SYS", "X", "PXB"}));
}

TEST(Topology, LinksThroughSwitchesCountAsManyAsThePoorerEndHas) {
  auto node = every_distance();
  node.switched(17).link(0, LinkEnd::nvswitch).link(1, LinkEnd::nvswitch, "", false);
  const auto topology = node.build();
  EXPECT_EQ(topology.between_gpus(0, 1).word(), "NV17");
  EXPECT_EQ(topology.gpus[0].links_up, 18U);
  EXPECT_EQ(topology.gpus[1].links, 18U);
  EXPECT_EQ(topology.gpus[1].links_up, 17U) << "one is down";
}

TEST(Topology, StraightLinksJoinOnlyTheTwoAtTheirEnds) {
  auto node = every_distance();
  for (int link = 0; link < 4; ++link) {
    node.link(0, LinkEnd::gpu, "0000:43:00.0").link(1, LinkEnd::gpu, "0000:1b:00.0");
  }
  const auto topology = node.build();
  EXPECT_EQ(words(topology, 0), (Words{"X", "NV4", "NODE", "SYS", "PIX", "PXB"}));
  EXPECT_EQ(topology.between_gpus(1, 2).word(), "NODE");
}

TEST(Topology, LinksOfAGpuThatHangsAreNotKnownRatherThanDown) {
  auto node = every_distance();
  node.switched(18);
  node.card(2).state = device::GpuState::hung;
  for (auto& [number, readings] : node.card(2).nvlinks) readings.mark_all(Reason::hung, {});
  const auto topology = node.build();
  EXPECT_EQ(topology.between_gpus(0, 1).word(), "NV18");
  EXPECT_EQ(topology.between_gpus(0, 2).word(), "N/A");
  EXPECT_EQ(topology.to_nic(2, 0).word(), "NODE") << "where it sits is known all the same";
  EXPECT_FALSE(topology.gpus[2].links_up);
}

TEST(Topology, WhatSysfsDoesNotTellIsNotKnown) {
  auto node = every_distance();
  node.devices().gpus.erase(node.card(1).info.pci);
  const auto topology = node.build();
  EXPECT_EQ(words(topology, 1), (Words{"N/A", "X", "N/A", "N/A", "N/A", "N/A"}));
  const auto early = build(node.snapshot());
  EXPECT_FALSE(early.devices_read);
  EXPECT_TRUE(early.nics.empty());
}

TEST(Topology, TheDriversNodeCountsWhereTheKernelKnowsNone) {
  NodeBuilder node;
  node.gpu("pci0000:00/0000:00:06.0", -1);
  node.card(0).info.numa_node = 0;
  EXPECT_EQ(node.build().gpus[0].numa_node, 0);
}

TEST(Topology, RowsFollowTheDriversIndexAndNotTheAddress) {
  NodeBuilder node;
  node.gpu("pci0000:00/0000:00:06.0", 0).gpu("pci0000:00/0000:00:07.0", 0);
  node.card(0).info.index = 1;
  node.card(1).info.index = 0;
  const auto topology = node.build();
  EXPECT_EQ(topology.gpus[0].pci.sysfs(), "0000:00:07.0");
  EXPECT_EQ(row_name(topology, 0), "GPU0");
}

TEST(Topology, EveryWordReadsBack) {
  for (const char* word : {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "NV4", "NV18", "N/A"}) {
    const auto way = Connection::parse(word);
    ASSERT_TRUE(way) << word;
    EXPECT_EQ(way->word(), word);
  }
  for (const char* word : {"", "NV", "NVx", "NV-1", "pix", "OK"}) {
    EXPECT_FALSE(Connection::parse(word)) << word;
  }
}

TEST(Topology, TheTableIsSymmetricWhateverTheNode) {
  std::mt19937 random(20'261'128);
  const auto pick = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  for (int round = 0; round < 300; ++round) {
    NodeBuilder node;
    for (unsigned n = 0; n <= pick(5); ++n) {
      node.gpu(fmt::format("pci0000:{:02x}/0000:{:02x}:{:02x}.0/0000:{:02x}:00.0", pick(2), pick(2),
                           pick(3), 0x40 + n),
               static_cast<int>(pick(2)) - 1);
    }
    for (unsigned n = 0; n < 12; ++n) {
      const std::size_t gpu = random() % node.snapshot().gpus.size();
      const bool straight = pick(1) == 1;
      const std::size_t to = random() % node.snapshot().gpus.size();
      node.link(gpu, straight ? LinkEnd::gpu : LinkEnd::nvswitch,
                straight ? node.card(to).info.pci.sysfs() : "", pick(3) > 0);
    }
    const auto topology = node.build();
    for (std::size_t one = 0; one < topology.table.size(); ++one) {
      EXPECT_EQ(topology.table[one][one].word(), "X");
      for (std::size_t other = 0; other < one; ++other) {
        EXPECT_EQ(topology.table[one][other], topology.table[other][one]);
      }
    }
  }
}

}  // namespace
}  // namespace stoker::topology
