#include "cluster/holds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// GPU 0 is /dev/nvidia3, and GPU 1, which has MIG, /dev/nvidia2.
std::vector<device::GpuInfo> two_gpus() {
  device::GpuInfo whole{.index = 0, .uuid = "GPU-aa", .minor = 3};
  device::GpuInfo split{.index = 1, .uuid = "GPU-bb", .minor = 2, .mig_enabled = true};
  split.migs = {{.uuid = "MIG-1", .profile = "1g.10gb", .gpu_instance = 7, .compute_instance = 0},
                {.uuid = "MIG-2", .profile = "1g.10gb", .gpu_instance = 8, .compute_instance = 0},
                {.uuid = "MIG-3", .profile = "3g.40gb", .gpu_instance = 1, .compute_instance = 0}};
  return {whole, split};
}

ContainerResources pod(const std::string& name) {
  return {.pod = name, .pod_namespace = "team", .container = "main"};
}

Holds hold_of(const std::string& resource, const std::string& id) {
  auto one = pod("p");
  one.devices = {{.resource = resource, .ids = {id}}};
  return map_holds({one}, two_gpus());
}

// The one UUID that is held, or "unmapped", or "nothing".
std::string held(const Holds& holds) {
  if (!holds.unmapped.empty()) return "unmapped";
  return holds.by_uuid.empty() ? "nothing" : holds.by_uuid.begin()->first;
}

std::string claim(const ClaimedDevice& device) {
  auto one = pod("p");
  one.claimed = {device};
  return held(map_holds({one}, two_gpus()));
}

TEST(Holds, DevicePluginIdsAreUuidsOrTheNamesOfDeviceNodes) {
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "GPU-aa")), "GPU-aa");
  EXPECT_EQ(held(hold_of("nvidia.com/mig-1g.10gb", "MIG-2")), "MIG-2");
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "MIG-GPU-bb/8/0")), "MIG-2") << "as before driver 470";
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "nvidia3")), "GPU-aa") << "GKE, by minor number";
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "nvidia2/gi1")), "MIG-3");
  EXPECT_EQ(held(hold_of("company.example/gpu", "GPU-aa")), "GPU-aa") << "a plugin may rename it";
}

TEST(Holds, WhatIsNotKnownIsNotGuessed) {
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "GPU-cc")), "unmapped");
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "nvidia0")), "unmapped");
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "nvidia2/gi5")), "unmapped");
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "MIG-GPU-bb/8/x")), "unmapped");
  EXPECT_EQ(held(hold_of("nvidia.com/gpu", "")), "unmapped");
  EXPECT_EQ(held(hold_of("rdma/hca", "mlx5_0")), "nothing") << "no GPU by its resource's name";
}

TEST(Holds, ReplicasAreSplitFromTheDeviceTheyShare) {
  auto first = pod("first");
  first.devices = {{.resource = "nvidia.com/gpu", .ids = {"GPU-aa::0"}}};
  auto second = pod("second");
  second.devices = {{.resource = "nvidia.com/gpu", .ids = {"GPU-aa::12"}},
                    {.resource = "nvidia.com/gpu.shared", .ids = {"nvidia3/vgpu4", "MIG-1::0"}}};
  const Holds holds = map_holds({first, second}, two_gpus());
  ASSERT_THAT(holds.by_uuid.at("GPU-aa"), SizeIs(3));
  EXPECT_EQ(holds.by_uuid.at("GPU-aa")[0].replica, "0");
  EXPECT_EQ(holds.by_uuid.at("GPU-aa")[1].replica, "12");
  EXPECT_EQ(holds.by_uuid.at("GPU-aa")[1].holder.pod, "second");
  EXPECT_EQ(holds.by_uuid.at("GPU-aa")[2].replica, "4");
  EXPECT_EQ(holds.by_uuid.at("MIG-1")[0].replica, "0");
  EXPECT_THAT(holds.unmapped, IsEmpty());
}

TEST(Holds, ClaimedDevicesAreFoundByCdiNamesAndByTheDriversNames) {
  EXPECT_EQ(claim({.driver = "x", .cdi_devices = {"nvidia.com/gpu=0"}}), "GPU-aa");
  EXPECT_EQ(claim({.driver = "x", .cdi_devices = {"nvidia.com/gpu=gpu1"}}), "GPU-bb");
  EXPECT_EQ(claim({.driver = "x", .cdi_devices = {"k8s.device-plugin.nvidia.com/gpu=MIG-3"}}),
            "MIG-3");
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .pool = "node", .device = "gpu-3"}), "GPU-aa");
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .device = "gpu-2-mig-3g40gb-9-4"}), "MIG-3");
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .device = "gpu-2-mig-1g10gb-19-0"}), "unmapped")
      << "there are two of that profile";
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .device = "gpu-9"}), "unmapped");
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .cdi_devices = {"nvidia.com/gpu=all"}}), "unmapped");
  EXPECT_EQ(claim({.driver = "gpu.nvidia.com", .cdi_devices = {"nvidia.com/gpu=0:1"}}), "unmapped");
  EXPECT_EQ(claim({.driver = "net.example", .device = "gpu-3"}), "nothing")
      << "another driver's names are its own";
  EXPECT_EQ(claim({.driver = "net.example", .cdi_devices = {"vendor.example/gpu=0"}}), "nothing");
}

TEST(Holds, OfAClaimItsNamesAreKept) {
  auto one = pod("p");
  one.claimed = {{.claim = "c",
                  .claim_namespace = "team",
                  .driver = "gpu.nvidia.com",
                  .pool = "node",
                  .device = "gpu-3"}};
  const Holds holds = map_holds({one}, two_gpus());
  EXPECT_THAT(holds.by_uuid.at("GPU-aa"),
              ElementsAre(DeviceHold{.holder = {"p", "team", "main", ""},
                                     .claim = "c",
                                     .claim_namespace = "team",
                                     .driver = "gpu.nvidia.com",
                                     .pool = "node",
                                     .device = "gpu-3"}));
}

TEST(Holds, AreBoundedWhateverTheKubeletSays) {
  auto greedy = pod("p");
  greedy.devices = {
      {.resource = "nvidia.com/gpu", .ids = std::vector<std::string>(9000, "GPU-aa")}};
  EXPECT_THAT(map_holds({greedy}, two_gpus()).by_uuid.at("GPU-aa"), SizeIs(4096));
}

}  // namespace
}  // namespace stoker::cluster
