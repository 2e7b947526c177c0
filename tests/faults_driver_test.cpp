// Faults of cards and of the driver: a GPU that vanishes and comes back, a driver that is unloaded and
// loaded again, a library that is not there, versions that differ.
#include <filesystem>

#include "support/faulty_node.h"

namespace stoker::test {
namespace {

using DriverFaults = FaultyNode;

TEST_F(DriverFaults, AGpuThatVanishesIsLostAndIsSeenAgainWhenItReturns) {
  watch_until_well();
  unharmed = {0, 1, 3};
  inject("vanish", "2");
  ASSERT_TRUE(wait_for_state(2, GpuState::lost)) << describe();
  EXPECT_EQ(reasons(2), std::set{Reason::lost});
  wait([] { return false; }, Seconds(2));
  EXPECT_EQ(now.gpus[2].state, GpuState::lost);
  EXPECT_EQ(now.gpus.size(), 4U);

  inject("return", "2");
  EXPECT_TRUE(wait_until_well(Seconds(4))) << describe();
  EXPECT_LE(oldest_unharmed, fresh);
  EXPECT_LE(most_probes, 2U);
}

TEST_F(DriverFaults, AGpuThatIsGoneFromTheStartIsSeenWhenItComes) {
  inject("vanish", "1");
  watch();
  ASSERT_TRUE(wait(
      [this] {
        return now.source.state == SourceState::running && now.gpus.size() == 3 && age(0) < fresh;
      },
      Seconds(10)))
      << describe();
  // Nobody knew of it: only a probe that starts anew sees it.
  inject("return", "1");
  kill(now.source.probe_pid, SIGTERM);
  EXPECT_TRUE(wait_until_well(Seconds(5))) << describe();
}

TEST_F(DriverFaults, AnXidThatLosesTheGpuIsToldWithIt) {
  watch_until_well();
  unharmed = {1, 2, 3};
  inject("xid", "0", {"79"});
  ASSERT_TRUE(wait_for_state(0, GpuState::lost)) << describe();
  ASSERT_TRUE(wait([this] { return now.gpus[0].xids.contains(79); }, told_within));
  EXPECT_EQ(now.gpus[0].xids.at(79).count, 1U);
  inject("return", "0");
  EXPECT_TRUE(wait_until_well(Seconds(4))) << describe();
  EXPECT_EQ(now.gpus[0].xids.at(79).count, 1U);
  EXPECT_LE(oldest_unharmed, fresh);
}

TEST_F(DriverFaults, AnUnloadedDriverIsToldAndSeenAgainWhenItIsLoaded) {
  watch_until_well();
  const auto energy = as_double(now.gpus[0].readings.get(FieldId::energy).value);
  inject("driver-unload");
  ASSERT_TRUE(wait_for_source(SourceState::driver_missing)) << describe();
  for (unsigned gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(reasons(gpu), std::set{Reason::driver_gone});
  wait([] { return false; }, Seconds(1));
  EXPECT_EQ(now.source.state, SourceState::driver_missing);
  inject("driver-load");
  EXPECT_TRUE(wait_until_well(Seconds(2))) << describe();
  ASSERT_TRUE(wait([this] { return reason(0, FieldId::energy) == Reason::ok; }, Seconds(2)));
  EXPECT_GE(as_double(now.gpus[0].readings.get(FieldId::energy).value), energy);
}

TEST_F(DriverFaults, AMissingLibraryIsToldAndFoundWhenItIsInstalled) {
  const TempFolder folder;
  const std::string library = options.library;
  options.library = folder.path("libnvidia-ml.so.1");
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::library_missing)) << describe();
  EXPECT_NE(now.source.detail.find(options.library), std::string::npos) << describe();
  std::filesystem::create_symlink(std::filesystem::canonical(library), options.library);
  EXPECT_TRUE(wait_until_well(Seconds(3))) << describe();
}

TEST_F(DriverFaults, VersionsThatDifferAreTold) {
  inject("init-fail", "0", {"LIB_RM_VERSION_MISMATCH"});
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::version_mismatch)) << describe();
  heal();
  EXPECT_TRUE(wait_until_well(Seconds(3))) << describe();
}

TEST_F(DriverFaults, ARefusalOfTheDriverIsTold) {
  inject("permission-denied");
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::no_permission)) << describe();
}

}  // namespace
}  // namespace stoker::test
