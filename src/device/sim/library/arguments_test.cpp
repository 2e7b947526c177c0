#include <gtest/gtest.h>

#include <vector>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

using nvml::abi::ClockType;
using nvml::abi::EnableState;
using nvml::abi::FabricInfoV3;
using nvml::abi::MemoryV2;
using nvml::abi::ProcessInfoV2;
using nvml::abi::version_tag;

class Arguments : public LibraryTest {};

TEST_F(Arguments, NullIsInvalid) {
  EXPECT_EQ(nvml_.nvmlDeviceGetPowerUsage(device(), nullptr), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(nullptr), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByIndex_v2(0, nullptr), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetName(device(), nullptr, 96), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetComputeRunningProcesses_v3(device(), nullptr, nullptr),
            Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetFieldValues(device(), 0, nullptr), Return::invalid_argument);
}

TEST_F(Arguments, AHandleThatIsNoneIsInvalid) {
  EXPECT_EQ(ask(nullptr), Return::invalid_argument);
  int elsewhere = 0;
  EXPECT_EQ(ask(reinterpret_cast<Device>(&elsewhere)), Return::invalid_argument);
  Device beyond = nullptr;
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByIndex_v2(2, &beyond), Return::invalid_argument);
}

TEST_F(Arguments, AStructOfAnotherVersionIsAMismatch) {
  MemoryV2 memory{};
  memory.version = sizeof memory;
  EXPECT_EQ(nvml_.nvmlDeviceGetMemoryInfo_v2(device(), &memory), Return::argument_version_mismatch);
  memory.version = version_tag<MemoryV2>(2);
  EXPECT_EQ(nvml_.nvmlDeviceGetMemoryInfo_v2(device(), &memory), Return::success);
  EXPECT_EQ(memory.total_bytes, memory.reserved_bytes + memory.used_bytes + memory.free_bytes);
  FabricInfoV3 fabric{};
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuFabricInfoV(device(), &fabric),
            Return::argument_version_mismatch);
  fabric.version = version_tag<FabricInfoV3>(3);
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuFabricInfoV(device(), &fabric), Return::success);
}

TEST_F(Arguments, ATextThatDoesNotFitIsRefusedWhole) {
  char name[8] = "before";
  EXPECT_EQ(nvml_.nvmlDeviceGetName(device(), name, sizeof name), Return::insufficient_size);
  EXPECT_STREQ(name, "before");
}

TEST_F(Arguments, AnArrayThatIsTooShortSaysHowLongItMustBe) {
  state_.change([](State& all) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      all.gpus[0].processes[i] = {ProcessKind::compute, 100 + i, no_instance, no_instance, 1, {}};
    }
  });
  unsigned count = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetComputeRunningProcesses_v2(device(), &count, nullptr),
            Return::insufficient_size);
  EXPECT_EQ(count, 3U);
  std::vector<ProcessInfoV2> processes(3);
  EXPECT_EQ(nvml_.nvmlDeviceGetComputeRunningProcesses_v2(device(), &count, processes.data()),
            Return::success);
  EXPECT_EQ(processes[2].pid, 102U);
  count = 2;
  unsigned clocks[2] = {};
  EXPECT_EQ(nvml_.nvmlDeviceGetSupportedGraphicsClocks(device(), 2619, &count, clocks),
            Return::insufficient_size);
  EXPECT_EQ(count, 110U);  // 1980 down to 345 by 15
  EXPECT_EQ(nvml_.nvmlDeviceGetSupportedGraphicsClocks(device(), 1, &count, clocks),
            Return::not_found);
}

TEST_F(Arguments, AnEnumeratorThatIsUnknownIsInvalid) {
  unsigned value = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetClockInfo(device(), static_cast<ClockType>(9), &value),
            Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceGetTemperatureThreshold(
                device(), static_cast<nvml::abi::TemperatureThreshold>(8), &value),
            Return::invalid_argument);
  EnableState active{};
  EXPECT_EQ(nvml_.nvmlDeviceGetNvLinkState(device(), 18, &active), Return::invalid_argument);
}

TEST_F(Arguments, WhatAProductLacksIsNotSupported) {
  unsigned value = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetFanSpeed(device(), &value), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetTemperatureThreshold(
                device(), nvml::abi::TemperatureThreshold::acoustic_max, &value),
            Return::not_supported);
  state_.change(
      [](State& all) { all.gpus[0].answers[0] = {name_hash("nvmlDeviceGetPowerUsage"), 3}; });
  EXPECT_EQ(ask(device()), Return::not_supported);
}

TEST_F(Arguments, WhatChangesTheCardNeedsRootUnlessTheStateLetsAnybody) {
  const auto lower_limit = [&] {
    return nvml_.nvmlDeviceSetPowerManagementLimit(device(), 300000);
  };
  EXPECT_EQ(answer_to_nobody(lower_limit), Return::no_permission);
  change_driver([](Driver& driver) { driver.allow_unprivileged = 1; });
  std::filesystem::permissions(state_.folder(), std::filesystem::perms::all);
  std::filesystem::permissions(state_.path(), std::filesystem::perms::all);
  EXPECT_EQ(answer_to_nobody(lower_limit), Return::success);
}

TEST_F(Arguments, APowerLimitIsTakenWithinTheCardsOwnRange) {
  change_driver([](Driver& driver) { driver.allow_unprivileged = 1; });
  EXPECT_EQ(nvml_.nvmlDeviceSetPowerManagementLimit(device(), 100000), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceSetPowerManagementLimit(device(), 300000), Return::success);
  unsigned limit = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetEnforcedPowerLimit(device(), &limit), Return::success);
  EXPECT_EQ(limit, 300000U);
}

}  // namespace
}  // namespace stoker::sim
