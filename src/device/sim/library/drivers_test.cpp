// The library presents any driver of the ABI table: which functions there are, and what they fill.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

using nvml::abi::FabricInfoV2;
using nvml::abi::FabricInfoV3;
using nvml::abi::GpmSample;
using nvml::abi::GpuInstanceProfileInfoV3;
using nvml::abi::MemoryV2;
using nvml::abi::system_version_size;
using nvml::abi::version_tag;

class Drivers : public LibraryTest {
 protected:
  void be(const char* version) {
    state_.change([&](State& all) { put_text(all.driver.driver_version, version); });
  }
  // How far apart two processes lie in what _v3 fills; 0 where it is not there.
  std::size_t stride_of_v3() {
    std::vector<unsigned char> bytes(256, 0xEE);
    unsigned count = 2;
    const Return answered =
        nvml_.nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, bytes.data());
    if (answered == Return::function_not_found) return 0;
    EXPECT_EQ(answered, Return::success);
    for (std::size_t at = 4; at + 4 <= bytes.size(); at += 4) {
      std::uint32_t pid = 0;
      std::memcpy(&pid, &bytes[at], sizeof pid);
      if (pid == 1002) return at;
    }
    return 1;
  }
};

TEST_F(Drivers, FillProcessRowsOfTheirOwnLength) {
  state_.change([](State& all) {
    all.gpus[0].processes[0] = {ProcessKind::compute, 1001, no_instance, no_instance, 1, {}};
    all.gpus[0].processes[1] = {ProcessKind::compute, 1002, no_instance, no_instance, 2, {}};
  });
  be("470.82.01");
  EXPECT_EQ(stride_of_v3(), 0U);
  be("510.47.03");
  EXPECT_EQ(stride_of_v3(), 24U);
  be("535.54.03");
  EXPECT_EQ(stride_of_v3(), 32U);
  be("535.98");
  EXPECT_EQ(stride_of_v3(), 0U);
  be("535.104.05");
  EXPECT_EQ(stride_of_v3(), 24U);
  be("550.127.08");
  EXPECT_EQ(stride_of_v3(), 16U);
  be("580.159.04");
  EXPECT_EQ(stride_of_v3(), 24U);
}

TEST_F(Drivers, LackWhatCameLater) {
  be("470.82.01");
  MemoryV2 memory{};
  memory.version = version_tag<MemoryV2>(2);
  EXPECT_EQ(nvml_.nvmlDeviceGetMemoryInfo_v2(device(), &memory), Return::function_not_found);
  GpmSample sample = nullptr;
  EXPECT_EQ(nvml_.nvmlGpmSampleAlloc(&sample), Return::function_not_found);
  unsigned limit = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetEnforcedPowerLimit(device(), &limit), Return::success);
  be("550.54.15");
  EXPECT_EQ(nvml_.nvmlDeviceGetMemoryInfo_v2(device(), &memory), Return::success);
}

TEST_F(Drivers, KnowTheirOwnVersionsOfAStruct) {
  FabricInfoV3 fabric{};
  fabric.version = version_tag<FabricInfoV3>(3);
  be("550.54.15");
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuFabricInfoV(device(), &fabric),
            Return::argument_version_mismatch);
  fabric.version = version_tag<FabricInfoV2>(2);
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuFabricInfoV(device(), &fabric), Return::success);
  GpuInstanceProfileInfoV3 profile{};
  profile.version = version_tag<GpuInstanceProfileInfoV3>(3);
  be("535.104.05");
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfoV(device(), 0, &profile),
            Return::argument_version_mismatch);
  be("580.159.04");
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfoV(device(), 0, &profile), Return::success);
  EXPECT_STREQ(profile.name, "MIG 1g.10gb");
}

TEST_F(Drivers, SaySoThemselves) {
  be("470.82.01");
  char text[system_version_size];
  ASSERT_EQ(nvml_.nvmlSystemGetDriverVersion(text, sizeof text), Return::success);
  EXPECT_STREQ(text, "470.82.01");
}

}  // namespace
}  // namespace stoker::sim
