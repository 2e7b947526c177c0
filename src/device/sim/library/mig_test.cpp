#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

namespace abi = nvml::abi;

constexpr unsigned profile_1g = 19;
constexpr unsigned profile_1g_me = 20;
constexpr unsigned profile_3g = 9;
constexpr unsigned profile_4g = 5;
constexpr unsigned profile_7g = 0;

class Mig : public LibraryTest {
 protected:
  Mig() : LibraryTest(1) {
    change_driver([](Driver& driver) { driver.allow_unprivileged = 1; });
  }
  void turn_on() {
    Return activation = Return::unknown;
    ASSERT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 1, &activation), Return::success);
    ASSERT_EQ(activation, Return::success);
  }
  abi::GpuInstance create(unsigned profile, Return expected = Return::success) {
    abi::GpuInstance made = nullptr;
    EXPECT_EQ(nvml_.nvmlDeviceCreateGpuInstance(device(), profile, &made), expected);
    return made;
  }
  abi::ComputeInstance create_compute(abi::GpuInstance instance, unsigned profile,
                                      Return expected = Return::success) {
    abi::ComputeInstance made = nullptr;
    EXPECT_EQ(nvml_.nvmlGpuInstanceCreateComputeInstance(instance, profile, &made), expected);
    return made;
  }
  unsigned start_of(abi::GpuInstance instance) {
    abi::GpuInstanceInfo info{};
    EXPECT_EQ(nvml_.nvmlGpuInstanceGetInfo(instance, &info), Return::success);
    return info.placement.start;
  }
  unsigned remaining(unsigned profile) {
    unsigned count = 99;
    EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceRemainingCapacity(device(), profile, &count),
              Return::success);
    return count;
  }
};

TEST_F(Mig, IsNotSupportedByAProductWithoutIt) {
  state_.change([](State& all) { all.gpus[0].mig.capable = 0; });
  unsigned current = 0;
  unsigned pending = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetMigMode(device(), &current, &pending), Return::not_supported);
  Return activation = Return::success;
  EXPECT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 1, &activation), Return::not_supported);
  abi::GpuInstanceProfileInfoV1 info{};
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfo(device(), 0, &info), Return::not_supported);
}

TEST_F(Mig, HasNoInstancesWhileItIsOff) {
  create(profile_1g, Return::not_supported);
  abi::GpuInstance instances[8] = {};
  unsigned count = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstances(device(), profile_1g, instances, &count),
            Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetMaxMigDeviceCount(device(), &count), Return::success);
  EXPECT_EQ(count, 0U);
  unsigned id = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceId(device(), &id), Return::invalid_argument);
}

TEST_F(Mig, StaysPendingWhileTheGpuIsInUse) {
  state_.change([](State& all) {
    all.gpus[0].processes[0] = {ProcessKind::compute, 7, no_instance, no_instance, 1, {}};
  });
  Return activation = Return::success;
  EXPECT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 1, &activation), Return::success);
  EXPECT_EQ(activation, Return::in_use);
  unsigned current = 9;
  unsigned pending = 9;
  EXPECT_EQ(nvml_.nvmlDeviceGetMigMode(device(), &current, &pending), Return::success);
  EXPECT_EQ(current, 0U);
  EXPECT_EQ(pending, 1U);
}

TEST_F(Mig, WaitsForAResetOnACardThatNeedsOne) {
  state_.change([](State& all) { all.gpus[0].mig.needs_reset = 1; });
  Return activation = Return::success;
  EXPECT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 1, &activation), Return::success);
  EXPECT_EQ(activation, Return::reset_required);
}

TEST_F(Mig, ListsProfilesAndPlacementsAsTheCardDoes) {
  abi::GpuInstanceProfileInfoV2 info{};
  info.version = abi::version_tag<abi::GpuInstanceProfileInfoV2>(2);
  ASSERT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfoV(device(), 2, &info), Return::success);
  EXPECT_EQ(info.id, profile_3g);
  EXPECT_STREQ(info.name, "MIG 3g.40gb");
  EXPECT_EQ(info.multiprocessors, 60U);
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfoV(device(), 5, &info), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetGpuInstanceProfileInfoV(device(), 99, &info),
            Return::invalid_argument);
  unsigned count = 0;
  ASSERT_EQ(
      nvml_.nvmlDeviceGetGpuInstancePossiblePlacements_v2(device(), profile_3g, nullptr, &count),
      Return::success);
  ASSERT_EQ(count, 2U);
  abi::Placement placements[8] = {};
  ASSERT_EQ(
      nvml_.nvmlDeviceGetGpuInstancePossiblePlacements_v2(device(), profile_3g, placements, &count),
      Return::success);
  EXPECT_EQ(placements[1].start, 4U);
  EXPECT_EQ(placements[1].size, 4U);
}

TEST_F(Mig, FillsTheCardAndThenSaysThatNothingIsLeft) {
  turn_on();
  EXPECT_EQ(remaining(profile_1g), 7U);
  std::vector<unsigned> starts;
  for (int i = 0; i < 7; ++i) starts.push_back(start_of(create(profile_1g)));
  // From where it takes least from the larger profiles.
  EXPECT_EQ(starts, (std::vector<unsigned>{6, 4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(remaining(profile_1g), 0U);
  create(profile_1g, Return::insufficient_resources);
  create(profile_7g, Return::insufficient_resources);
}

TEST_F(Mig, AllowsOneInstanceWithMediaEnginesOnly) {
  turn_on();
  create(profile_1g_me);
  EXPECT_EQ(remaining(profile_1g_me), 0U);
  create(profile_1g_me, Return::insufficient_resources);
}

TEST_F(Mig, TakesOrRefusesAPlacementThatWasAskedFor) {
  turn_on();
  abi::GpuInstance made = nullptr;
  const abi::Placement wrong{2, 4};
  EXPECT_EQ(nvml_.nvmlDeviceCreateGpuInstanceWithPlacement(device(), profile_3g, &wrong, &made),
            Return::insufficient_resources);
  const abi::Placement right{4, 4};
  EXPECT_EQ(nvml_.nvmlDeviceCreateGpuInstanceWithPlacement(device(), profile_3g, &right, &made),
            Return::success);
  EXPECT_EQ(start_of(made), 4U);
  EXPECT_EQ(start_of(create(profile_4g)), 0U);
  create(12345, Return::invalid_argument);
}

TEST_F(Mig, GivesAMigDeviceForEachComputeInstance) {
  turn_on();
  abi::GpuInstance instance = create(profile_3g);
  create_compute(instance, 2);  // 3g.40gb, whole
  Device mig = nullptr;
  ASSERT_EQ(nvml_.nvmlDeviceGetMigDeviceHandleByIndex(device(), 0, &mig), Return::success);
  unsigned is_mig = 0;
  EXPECT_EQ(nvml_.nvmlDeviceIsMigDeviceHandle(mig, &is_mig), Return::success);
  EXPECT_EQ(is_mig, 1U);
  char text[abi::uuid_v2_size];
  ASSERT_EQ(nvml_.nvmlDeviceGetName(mig, text, sizeof text), Return::success);
  EXPECT_STREQ(text, "NVIDIA H100 80GB HBM3 MIG 3g.40gb");
  ASSERT_EQ(nvml_.nvmlDeviceGetUUID(mig, text, sizeof text), Return::success);
  EXPECT_EQ(std::string(text).size(),
            std::string("MIG-00000000-0000-0000-0000-000000000000").size());
  Device again = nullptr;
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByUUID(text, &again), Return::success);
  EXPECT_EQ(again, mig);
  Device parent = nullptr;
  EXPECT_EQ(nvml_.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &parent), Return::success);
  EXPECT_EQ(parent, device());
  abi::Attributes attributes{};
  ASSERT_EQ(nvml_.nvmlDeviceGetAttributes_v2(mig, &attributes), Return::success);
  EXPECT_EQ(attributes.memory_mib, 40448U);
  EXPECT_EQ(attributes.multiprocessors, 60U);
  abi::Memory memory{};
  ASSERT_EQ(nvml_.nvmlDeviceGetMemoryInfo(mig, &memory), Return::success);
  EXPECT_EQ(memory.total_bytes, 40448ULL << 20U);
  EXPECT_EQ(nvml_.nvmlDeviceGetMigDeviceHandleByIndex(device(), 1, &mig), Return::not_found);
}

TEST_F(Mig, RefusesOnMigDevicesWhatBelongsToTheGpu) {
  turn_on();
  create_compute(create(profile_1g), 0);
  Device mig = nullptr;
  ASSERT_EQ(nvml_.nvmlDeviceGetMigDeviceHandleByIndex(device(), 0, &mig), Return::success);
  unsigned value = 0;
  abi::Utilization utilization{};
  EXPECT_EQ(nvml_.nvmlDeviceGetUtilizationRates(mig, &utilization), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetPowerUsage(mig, &value), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetTemperature(mig, abi::TemperatureSensor::gpu, &value),
            Return::not_supported);
  // And on the GPU what MIG mode takes away from it.
  EXPECT_EQ(nvml_.nvmlDeviceGetUtilizationRates(device(), &utilization), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetNumGpuCores(device(), &value), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceGetPowerUsage(device(), &value), Return::success);
}

TEST_F(Mig, DestroysFromTheInsideOut) {
  turn_on();
  abi::GpuInstance instance = create(profile_3g);
  abi::ComputeInstance one = create_compute(instance, 0);
  create_compute(instance, 2, Return::insufficient_resources);
  EXPECT_EQ(nvml_.nvmlGpuInstanceDestroy(instance), Return::in_use);
  Return activation = Return::success;
  EXPECT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 0, &activation), Return::success);
  EXPECT_EQ(activation, Return::in_use);
  state_.change([](State& all) {
    all.gpus[0].processes[0] = {ProcessKind::compute, 7, all.gpus[0].mig.instances[0].id, 0, 1, {}};
  });
  EXPECT_EQ(nvml_.nvmlComputeInstanceDestroy(one), Return::in_use);
  state_.change([](State& all) { all.gpus[0].processes[0] = Process{}; });
  EXPECT_EQ(nvml_.nvmlComputeInstanceDestroy(one), Return::success);
  EXPECT_EQ(nvml_.nvmlGpuInstanceDestroy(instance), Return::success);
  EXPECT_EQ(nvml_.nvmlGpuInstanceDestroy(instance), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlDeviceSetMigMode(device(), 0, &activation), Return::success);
  EXPECT_EQ(activation, Return::success);
}

TEST_F(Mig, TellsAMigDeviceItsOwnProcessesAndTheGpuAll) {
  turn_on();
  abi::GpuInstance instance = create(profile_3g);
  create_compute(instance, 0);
  create_compute(instance, 0);
  state_.change([](State& all) {
    const std::uint32_t id = all.gpus[0].mig.instances[0].id;
    all.gpus[0].processes[0] = {ProcessKind::compute, 70, id, 0, 1, {}};
    all.gpus[0].processes[1] = {ProcessKind::compute, 71, id, 1, 1, {}};
  });
  Device second = nullptr;
  ASSERT_EQ(nvml_.nvmlDeviceGetMigDeviceHandleByIndex(device(), 1, &second), Return::success);
  abi::ProcessInfoV2 found[4] = {};
  unsigned count = 4;
  ASSERT_EQ(nvml_.nvmlDeviceGetComputeRunningProcesses_v3(second, &count, found), Return::success);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(found[0].pid, 71U);
  EXPECT_EQ(found[0].compute_instance_id, 1U);
  count = 4;
  ASSERT_EQ(nvml_.nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, found),
            Return::success);
  EXPECT_EQ(count, 2U);
}

}  // namespace
}  // namespace stoker::sim
