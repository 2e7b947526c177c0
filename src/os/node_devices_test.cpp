#include "os/node_devices.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "os/tree_test_support.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

class NodeDevicesTest : public testing::Test, protected Tree {
 protected:
  // A device below /sys/devices, and the link to it, as the kernel makes them.
  void put_pci(const std::string& below, const std::string& vendor, const std::string& kind,
               const std::string& numa) const {
    const std::string folder = "sys/devices/" + below;
    put(folder + "/vendor", vendor);
    put(folder + "/class", kind);
    put(folder + "/numa_node", numa);
    put(folder + "/local_cpulist", "0-31");
    fs::create_directories(root_ / "sys/bus/pci/devices");
    fs::create_symlink("../../../devices/" + below,
                       root_ / "sys/bus/pci/devices" / fs::path(below).filename());
  }
  void put_nic(const std::string& name, const std::string& below) const {
    const std::string folder = "sys/devices/" + below + "/infiniband/" + name;
    put(folder + "/ports/1/link_layer", "InfiniBand");
    put(folder + "/ports/1/state", "4: ACTIVE");
    put(folder + "/ports/1/rate", "400 Gb/sec (4X NDR)");
    fs::create_symlink("../../../" + fs::path(below).filename().string(),
                       root_ / folder / "device");
    fs::create_directories(root_ / "sys/class/infiniband");
    fs::create_symlink("../../devices/" + below + "/infiniband/" + name,
                       root_ / "sys/class/infiniband" / name);
  }
};

TEST_F(NodeDevicesTest, FindsGpusAndNicsWhereTheKernelPutsThem) {
  put_pci("pci0000:15/0000:15:01.0/0000:1b:00.0", "0x10de", "0x030200", "0");
  put_pci("pci0000:15/0000:15:02.0/0000:1a:00.0", "0x15b3", "0x020700", "-1");
  put_pci("pci0000:15/0000:15:03.0/0000:07:00.0", "0x10de", "0x068000", "0");
  put_nic("mlx5_0", "pci0000:15/0000:15:02.0/0000:1a:00.0");
  const auto seen = read_node_devices(*env_);
  ASSERT_EQ(seen.gpus.size(), 1U) << "an NVSwitch is no GPU";
  const auto& [pci, place] = *seen.gpus.begin();
  EXPECT_EQ(pci.sysfs(), "0000:1b:00.0");
  EXPECT_EQ(place.path.sysfs(), "/sys/devices/pci0000:15/0000:15:01.0/0000:1b:00.0");
  EXPECT_EQ(place.numa_node, 0);
  EXPECT_EQ(place.local_cpus, "0-31");
  ASSERT_EQ(seen.nics.size(), 1U);
  const NicInfo& nic = seen.nics.front();
  EXPECT_EQ(nic.pci->sysfs(), "0000:1a:00.0");
  EXPECT_EQ(nic.place->numa_node, -1);
  EXPECT_EQ(nic.link_layer, "InfiniBand");
  EXPECT_EQ(nic.port_state, "ACTIVE");
  EXPECT_EQ(nic.rate_gbps, 400.0);
  EXPECT_EQ(seen.gpus_problem + seen.nics_problem, "");
}

TEST_F(NodeDevicesTest, AMachineWithoutSysfsHasNoDevicesAndThatIsNoProblem) {
  EXPECT_EQ(read_node_devices(*env_), NodeDevices{});
}

TEST_F(NodeDevicesTest, AFolderThatCanNotBeListedIsAProblemAndNotNoDevices) {
  put("sys/class/infiniband", "a file where a folder should be");
  EXPECT_NE(read_node_devices(*env_).nics_problem, "");
}

TEST_F(NodeDevicesTest, ASoftwareRdmaDeviceHasNoPlace) {
  put("sys/class/infiniband/rxe0/ports/1/state", "1: DOWN");
  const auto nic = read_node_devices(*env_).nics.at(0);
  EXPECT_FALSE(nic.pci);
  EXPECT_FALSE(nic.place);
  EXPECT_EQ(nic.port_state, "DOWN");
  EXPECT_FALSE(nic.rate_gbps);
}

TEST(NaturalLess, NumbersCountAsNumbers) {
  EXPECT_TRUE(natural_less("mlx5_2", "mlx5_10"));
  EXPECT_FALSE(natural_less("mlx5_10", "mlx5_2"));
  EXPECT_TRUE(natural_less("mlx5_31", "mlx5_bond_0"));
  EXPECT_FALSE(natural_less("mlx5_0", "mlx5_0"));
}

}  // namespace
}  // namespace stoker::os
