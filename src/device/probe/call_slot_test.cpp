#include "device/call_slot.h"

#include <gtest/gtest.h>

#include "device/probe/driver_marker.h"

#include <filesystem>
#include <fstream>

namespace stoker::device::probe {
namespace {

TEST(CallSlot, TellsTheCallUnderWayAndSinceWhen) {
  CallSlot slot;
  EXPECT_FALSE(slot.now().has_value());
  const MonotonicTime began{Seconds(86400 * 365) + Nanoseconds(123456789)};
  {
    const InCall call(slot, Getter::power_usage, began);
    ASSERT_TRUE(slot.now().has_value());
    EXPECT_EQ(slot.now()->getter, Getter::power_usage);
    EXPECT_LE(slot.now()->since, began);
    EXPECT_GE(slot.now()->since, began + Nanoseconds(-256));
  }
  EXPECT_FALSE(slot.now().has_value());
}

TEST(CallSlot, GivesEachOfSeveralCallsItsOwnTime) {
  CallSlot slot;
  const MonotonicTime began{Seconds(100)};
  const MonotonicTime later{Seconds(108)};
  {
    const InCall call(slot, Getter::ecc_total, began);
    InCall::next_call(later);
    EXPECT_EQ(slot.now()->getter, Getter::ecc_total);
    EXPECT_LT(later - slot.now()->since, Nanoseconds(1000));
  }
  InCall::next_call(later);
  EXPECT_FALSE(slot.now().has_value());
}

TEST(CallSlot, TellsACallThatBeganAtBoot) {
  CallSlot slot;
  slot.enter(static_cast<Getter>(0), MonotonicTime{});
  EXPECT_TRUE(slot.now().has_value());
}

TEST(DriverMarker, DiffersAfterTheFileWasMadeAnew) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "driver_marker";
  std::filesystem::remove(file);
  EXPECT_EQ(driver_identity(file), "");
  std::ofstream(file) << "one";
  const std::string first = driver_identity(file);
  EXPECT_NE(first, "");
  EXPECT_EQ(driver_identity(file), first);
  std::filesystem::remove(file);
  std::ofstream(file) << "two";
  EXPECT_NE(driver_identity(file), first);
  std::filesystem::remove(file);
}

TEST(DriverMarker, IsSteadyInSysfs) {
  const std::string marker = "/sys/kernel";
  if (driver_identity(marker).empty()) GTEST_SKIP() << "no sysfs here";
  EXPECT_EQ(driver_identity(marker), driver_identity(marker));
}

}  // namespace
}  // namespace stoker::device::probe
