#include "model/pci_path.h"

#include <gtest/gtest.h>

#include <random>

namespace stoker {
namespace {

PciPath path(std::string_view text) {
  const auto parsed = PciPath::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(PciPath{});
}

TEST(PciPath, ReadsTheLinkOfSysfs) {
  const auto gpu = path("../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:1b:00.0");
  EXPECT_EQ(gpu.root(), "pci0000:15");
  EXPECT_EQ(gpu.bridges.size(), 2U);
  EXPECT_EQ(gpu.device.sysfs(), "0000:1b:00.0");
  EXPECT_EQ(path(gpu.sysfs()), gpu);
}

TEST(PciPath, TheLastHostBridgeCounts) {
  EXPECT_EQ(path("/sys/devices/pci0000:15/0000:15:00.5/pci10000:00/10000:00:02.0").root(),
            "pci10000:00");
}

TEST(PciPath, RefusesWhatIsNone) {
  for (const char* text : {"", "/sys/devices", "/sys/devices/pci0000:15", "pci0000/0000:1b:00.0",
                           "/sys/devices/pci0000:15/usb1", "0000:1b:00.0"}) {
    EXPECT_FALSE(PciPath::parse(text)) << text;
  }
}

// Two devices of one switch, of two switches behind one another, of one root port, of two root ports.
TEST(PciPath, EveryWordOfTheLegendOccurs) {
  const auto gpu = path("/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0");
  const auto twin = path("/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:19:00.0");
  const auto deeper = path(
      "/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1a:00.0/0000:1b:00.0/0000:1c:00.0");
  const auto other_port = path("/pci0000:15/0000:15:02.0/0000:1d:00.0");
  const auto other_function = path("/pci0000:15/0000:15:02.0/0000:1d:00.1");
  const auto other_bridge = path("/pci0000:38/0000:38:01.0/0000:39:00.0");
  EXPECT_EQ(distance(gpu, 0, gpu, 0), PcieDistance::self);
  EXPECT_EQ(distance(gpu, 0, twin, 0), PcieDistance::pix);
  EXPECT_EQ(distance(gpu, 0, deeper, 0), PcieDistance::pxb);
  EXPECT_EQ(distance(gpu, 0, other_port, 0), PcieDistance::phb);
  EXPECT_EQ(distance(other_port, 0, other_function, 0), PcieDistance::pix);
  EXPECT_EQ(distance(gpu, 0, other_bridge, 0), PcieDistance::node);
  EXPECT_EQ(distance(gpu, 0, other_bridge, 1), PcieDistance::sys);
}

TEST(PciPath, DevicesOnTheRootBusMeetAtTheHostBridge) {
  EXPECT_EQ(distance(path("/pci0000:00/0000:00:06.0"), 0, path("/pci0000:00/0000:00:07.0"), 0),
            PcieDistance::phb);
}

TEST(PciPath, ADeviceOfNoNodeIsNearOnlyToOthersOfNone) {
  const auto one = path("/pci0000:15/0000:15:01.0/0000:16:00.0");
  const auto other = path("/pci0000:38/0000:38:01.0/0000:39:00.0");
  EXPECT_EQ(distance(one, -1, other, -1), PcieDistance::node);
  EXPECT_EQ(distance(one, -1, other, 0), PcieDistance::sys);
}

PciPath random_path(std::mt19937& random, std::uint8_t device_bus) {
  const auto pick = [&](unsigned most) { return static_cast<std::uint8_t>(random() % (most + 1)); };
  PciPath made;
  made.root_bus = pick(1);
  for (unsigned depth = pick(4); depth > 0; --depth) {
    made.bridges.push_back({0, static_cast<std::uint8_t>(0x10 + depth), pick(1), 0});
  }
  made.device = {0, device_bus, 0, 0};
  return made;
}

TEST(PciPath, DistanceIsSymmetricAndOnlyZeroToItself) {
  std::mt19937 random(20'261'128);
  for (int round = 0; round < 5000; ++round) {
    const auto one = random_path(random, 0x80);
    const auto other = random_path(random, 0x81);
    const int numa = static_cast<int>(random() % 3) - 1;
    const auto there = distance(one, 0, other, numa);
    EXPECT_EQ(there, distance(other, numa, one, 0));
    EXPECT_NE(there, PcieDistance::self);
    EXPECT_EQ(distance(one, 0, one, 0), PcieDistance::self);
    const bool one_host = one.root_bus == other.root_bus;
    EXPECT_EQ(there <= PcieDistance::phb, one_host) << "NUMA decides between host bridges alone";
  }
}

// What stands above the bridge that two devices share says nothing about how far apart they are.
TEST(PciPath, AFurtherSharedBridgeAboveChangesNothingBelow) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    auto one = random_path(random, 0x80);
    auto other = random_path(random, 0x81);
    other.root_bus = one.root_bus;
    const PciAddress port{0, 1, 0, 0};
    for (auto* each : {&one, &other}) each->bridges.insert(each->bridges.begin(), port);
    const auto before = distance(one, 0, other, 0);
    for (auto* each : {&one, &other}) each->bridges.insert(each->bridges.begin(), {0, 2, 0, 0});
    EXPECT_EQ(distance(one, 0, other, 0), before);
  }
}

}  // namespace
}  // namespace stoker
