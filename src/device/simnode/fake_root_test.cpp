#include "device/simnode/fake_root.h"

#include "device/simnode/simnode_test_support.h"

namespace stoker::simnode {
namespace {

TEST_F(SimNodeTest, ProcFilesReadAsCaptured) {
  make("hgx-h200x4");
  EXPECT_EQ(
      root_file("/proc/driver/nvidia/version"),
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  ()  \n"
      "GCC version:  gcc version 15.3.0 (GCC) \n");
  EXPECT_EQ(root_file("/proc/driver/nvidia/gpus/0000:00:06.0/information"),
            "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\n"
            "GPU UUID: \t GPU-51000000-f831-4000-8000-000000000001\n"
            "Video BIOS: \t 96.00.a5.00.1a\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n"
            "DMA Mask: \t 0xfffffffffffff\nBus Location: \t 0000:00:06.0\nDevice Minor: \t 0\n"
            "GPU Firmware: \t 580.159.04\nGPU Excluded:\t No\n");
  EXPECT_NE(root_file("/proc/driver/nvidia/params").find("\nNvLinkDisable: 0\n"),
            std::string::npos);
  EXPECT_EQ(root_file("/proc/driver/nvidia/capabilities/mig/config"),
            "DeviceFileMinor: 1\nDeviceFileMode: 256\nDeviceFileModify: 1\n");
}

TEST_F(SimNodeTest, PciDevicesHaveWhatSysfsShows) {
  make("hgx-h100");
  const std::string gpu = "/sys/bus/pci/devices/0000:9d:00.0/";
  EXPECT_EQ(root_file(gpu + "vendor"), "0x10de\n");
  EXPECT_EQ(root_file(gpu + "device"), "0x2330\n");
  EXPECT_EQ(root_file(gpu + "class"), "0x030200\n");
  EXPECT_EQ(root_file(gpu + "numa_node"), "1\n");
  EXPECT_EQ(root_file(gpu + "local_cpulist"), "56-111,168-223\n");
  EXPECT_EQ(root_file(gpu + "current_link_speed"), "32.0 GT/s PCIe\n");
  EXPECT_EQ(root_file(gpu + "max_link_width"), "16\n");
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:07:00.0/device"), "0x22a3\n") << "NVSwitch";
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:1a:00.0/vendor"), "0x15b3\n") << "ConnectX";
}

// What the kernel links from /sys/bus/pci is the way from the host bridge down to the device.
TEST_F(SimNodeTest, PciDevicesHangBelowTheirBridges) {
  make("hgx-h100");
  const auto place = [&](const std::string& device) {
    return std::filesystem::read_symlink(node_->root() + "/sys/bus/pci/devices/" + device).string();
  };
  EXPECT_EQ(place("0000:9d:00.0"),
            "../../../devices/pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:01.0/0000:9d:00.0");
  EXPECT_EQ(place("0000:07:00.0"), "../../../devices/pci0000:06/0000:06:01.0/0000:07:00.0")
      << "what no profile places has a root port of its own";
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:98:00.0/class"), "0x060400\n") << "a bridge";
  EXPECT_EQ(gpu(0).topology_level[1], 40U) << "NVML says NODE too";
  EXPECT_EQ(gpu(0).topology_level[4], 50U) << "and SYS";
}

TEST_F(SimNodeTest, InfiniBandAndRocePortsAreUp) {
  make("hgx-h100");
  const std::string ib = "/sys/class/infiniband/mlx5_0/";
  EXPECT_EQ(root_file(ib + "ports/1/state"), "4: ACTIVE\n");
  EXPECT_EQ(root_file(ib + "ports/1/phys_state"), "5: LinkUp\n");
  EXPECT_EQ(root_file(ib + "ports/1/rate"), "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(root_file(ib + "ports/1/link_layer"), "InfiniBand\n");
  EXPECT_EQ(root_file(ib + "ports/1/counters/symbol_error"), "0\n");
  EXPECT_EQ(root_file(ib + "ports/1/hw_counters/rnr_nak_retry_err"), "0\n");
  EXPECT_EQ(root_file(ib + "ports/1/gids/0"), "fe80:0000:0000:0000:5100:0000:0000:0001\n");
  EXPECT_EQ(root_file(ib + "device/vendor"), "0x15b3\n");
  const std::string roce = "/sys/class/infiniband/mlx5_9/";
  EXPECT_EQ(root_file(roce + "ports/1/link_layer"), "Ethernet\n");
  EXPECT_EQ(root_file(roce + "ports/1/gid_attrs/types/3"), "RoCE v2\n");
  EXPECT_EQ(root_file(roce + "ports/1/hw_counters/np_cnp_sent"), "0\n");
}

TEST_F(SimNodeTest, TheKernelLogBeginsWithTheDriver) {
  make("t4x4");
  const std::string log = root_file("/dev/kmsg");
  EXPECT_NE(log.find(",-;nvidia-nvlink: Nvlink Core is being initialized"), std::string::npos);
  EXPECT_NE(log.find("3,1,"), std::string::npos);
  EXPECT_TRUE(exists(node_->root() + "/dev/nvidia3"));
  EXPECT_TRUE(exists(node_->root() + "/dev/nvidiactl"));
}

TEST_F(SimNodeTest, ATrainingIsOneSlurmJobAndAnInferenceServerAPod) {
  make("hgx-h100");
  const auto cgroup = [&](unsigned pid) {
    return root_file("/proc/" + std::to_string(pid) + "/cgroup");
  };
  EXPECT_EQ(cgroup(4194305), "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
  EXPECT_EQ(cgroup(4194308), "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_3\n");
  EXPECT_NE(root_file("/proc/4194305/environ").find("SLURM_JOB_NAME=pretrain"), std::string::npos);
  EXPECT_EQ(cgroup(4194309).find("0::/kubepods.slice/kubepods-pod"), 0U);
  EXPECT_NE(cgroup(4194309), cgroup(4194310)) << "each server is a pod of its own";
  EXPECT_NE(cgroup(4194311).find("job_4712"), std::string::npos);
  EXPECT_EQ(cgroup(4194312), "(none)") << "GPU 7 is idle";
  EXPECT_EQ(root_file("/proc/4194305/comm"), "training\n");
}

TEST_F(SimNodeTest, ProcessesComeToProcAndLeaveItWithTheirLoads) {
  make_idle("t4x4");
  EXPECT_FALSE(exists(node_->root() + "/proc/4194305"));
  ASSERT_TRUE(node_->set_load("training", "0"));
  const std::string began = root_file("/proc/4194305/stat");
  EXPECT_NE(began.find("4194305 (training) S "), std::string::npos);
  ASSERT_TRUE(node_->set_load("training", "1"));
  EXPECT_EQ(root_file("/proc/4194305/stat"), began) << "it runs on";
  ASSERT_TRUE(node_->set_load("inference", "0"));
  EXPECT_EQ(root_file("/proc/4194305/comm"), "inference\n");
  EXPECT_NE(root_file("/proc/4194305/cgroup").find("kubepods"), std::string::npos);
  ASSERT_TRUE(node_->set_load("idle", "all"));
  EXPECT_FALSE(exists(node_->root() + "/proc/4194305"));
  EXPECT_FALSE(exists(node_->root() + "/proc/4194306"));
  EXPECT_TRUE(exists(node_->root() + "/proc/driver")) << "nothing else is touched";
}

TEST_F(SimNodeTest, OnlyProcessesThatLinuxCannotHaveAreInvented) {
  make_idle("t4x4");
  EXPECT_EQ(inject({.name = "process", .args = {"add", "1"}}).find("refused"), std::string::npos);
  EXPECT_FALSE(exists(node_->root() + "/proc/1")) << "the machine's own /proc has it";
  inject({.name = "process", .args = {"add", "5000000", "vllm"}});
  EXPECT_EQ(root_file("/proc/5000000/comm"), "vllm\n");
  inject({.name = "process", .args = {"remove", "5000000"}});
  EXPECT_FALSE(exists(node_->root() + "/proc/5000000"));
}

}  // namespace
}  // namespace stoker::simnode
