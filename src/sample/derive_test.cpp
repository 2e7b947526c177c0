#include "sample/derive.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

namespace stoker::sample {
namespace {

using device::TargetReading;

MonotonicTime at(double seconds) { return {Nanoseconds(static_cast<std::int64_t>(seconds * 1e9))}; }
Reading watts(double value, double seconds) { return Reading::of(value, at(seconds)); }
Reading joules(double value, double seconds) { return Reading::of(value, at(seconds)); }

TEST(EnergyCounter, BeginsAtTheDriversCountAndIntegratesPower) {
  EnergyCounter counter;
  counter.on_power(watts(100, 0));
  EXPECT_EQ(counter.now().reason, Reason::pending);
  counter.on_driver(joules(5000, 0));
  counter.on_power(watts(200, 1));
  ASSERT_TRUE(counter.now().ok());
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 5150);
}

TEST(EnergyCounter, CatchesUpWithTheDriverAfterAGap) {
  EnergyCounter counter;
  counter.on_driver(joules(1000, 0));
  counter.on_power(watts(100, 0));
  counter.on_power(watts(100, 600));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 1000);
  counter.on_driver(joules(61000, 600));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 61000);
}

TEST(EnergyCounter, WaitsForADriverThatCountsLessThanTheIntegral) {
  EnergyCounter counter;
  counter.on_driver(joules(0, 0));
  for (int second = 0; second <= 60; ++second) counter.on_power(watts(110, second));
  counter.on_driver(joules(6000, 60));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 6600);
  // It stands until the estimate is past it, so the error never adds up from minute to minute.
  counter.on_power(watts(110, 61));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 6600);
  for (int second = 62; second <= 120; ++second) counter.on_power(watts(110, second));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 12600);
}

TEST(EnergyCounter, GoesOnWhenTheDriverCountsFromZeroAgain) {
  EnergyCounter counter;
  counter.on_driver(joules(100000, 0));
  counter.on_driver(joules(50, 60));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 100050);
  counter.on_driver(joules(150, 120));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 100150);
}

TEST(EnergyCounter, HasNoValueWhileTheGpuIsLostAndGoesOnAfterwards) {
  EnergyCounter counter;
  counter.on_driver(joules(1000, 0));
  counter.on_power(watts(100, 0));
  counter.on_power(Reading::none(Reason::lost, at(1)));
  EXPECT_EQ(counter.now().reason, Reason::lost);
  counter.on_power(watts(100, 2));
  EXPECT_DOUBLE_EQ(as_double(counter.now().value), 1000);
}

TEST(EnergyCounter, SaysWhyThereIsNoneWhereTheDriverDoesNotCount) {
  EnergyCounter counter;
  counter.on_power(watts(100, 0));
  counter.on_driver(Reading::none(Reason::not_supported, at(0)));
  EXPECT_EQ(counter.now().reason, Reason::not_supported);
}

Reading any_reading(double seconds) {
  const int kind = *rc::gen::inRange(0, 6);
  if (kind == 0) return Reading::none(Reason::lost, at(seconds));
  return Reading::of(static_cast<double>(*rc::gen::inRange(-10, 100000)), at(seconds));
}

RC_GTEST_PROP(EnergyCounter, NeverFallsWhateverComesInWhateverOrder, ()) {
  EnergyCounter counter;
  double last = 0;
  for (int left = *rc::gen::inRange(1, 100); left > 0; --left) {
    const double seconds = *rc::gen::inRange(0, 1000);
    if (*rc::gen::arbitrary<bool>()) {
      counter.on_power(any_reading(seconds));
    } else {
      counter.on_driver(any_reading(seconds));
    }
    if (!counter.now().ok()) continue;
    RC_ASSERT(as_double(counter.now().value) >= last);
    last = as_double(counter.now().value);
  }
}

RC_GTEST_PROP(RisingCounter, NeverFalls, ()) {
  RisingCounter counter;
  double last = 0;
  for (int left = *rc::gen::inRange(1, 50); left > 0; --left) {
    const double told = counter.take(*rc::gen::inRange(0, 1000));
    RC_ASSERT(told >= last);
    last = told;
  }
}

// Keeps what was told last of each field.
class Keeper final : public device::PartListener {
 public:
  void on_readings(const PciAddress& /*gpu*/, const std::vector<TargetReading>& readings) override {
    for (const TargetReading& told : readings) last[told.field] = told.reading;
  }

  std::map<FieldId, Reading> last;
};

class DerivedFields : public testing::Test {
 protected:
  void SetUp() override {
    gpu.uuid = "GPU-1";
    gpu.nvlinks = {{0, 4, ""}, {1, 4, ""}};
    derive.on_inventory({gpu});
  }
  void tell(const std::vector<TargetReading>& readings) { derive.on_readings(gpu.pci, readings); }
  static TargetReading link(std::uint32_t number, const Reading& state) {
    return {{EntityKind::nvlink, number}, FieldId::nvlink_state, state};
  }
  Reading told(FieldId field) { return keeper.last[field]; }

  device::GpuInfo gpu;
  Keeper keeper;
  Derive derive{keeper};
};

TEST_F(DerivedFields, PassOnWhatWasRead) {
  tell({{{}, FieldId::power, watts(70, 1)}});
  EXPECT_EQ(as_double(told(FieldId::power).value), 70);
}

TEST_F(DerivedFields, AddUpNvlinkPayloadOfBothDirectionsInKib) {
  tell({{{}, FieldId::nvlink_data_tx, Reading::of(std::int64_t{2048}, at(1))},
        {{}, FieldId::nvlink_data_rx, Reading::of(std::int64_t{1024}, at(1))}});
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::nvlink_bandwidth_total).value), 3);
  tell({{{}, FieldId::nvlink_data_tx, Reading::of(std::int64_t{4096}, at(2))},
        {{}, FieldId::nvlink_data_rx, Reading::none(Reason::not_supported, at(2))}});
  EXPECT_EQ(told(FieldId::nvlink_bandwidth_total).reason, Reason::not_supported);
}

TEST_F(DerivedFields, CountTheLinksThatAreUpAndKnowNothingWhenOneIsUnknown) {
  tell(
      {link(0, Reading::of(std::int64_t{1}, at(1))), link(1, Reading::of(std::int64_t{0}, at(1)))});
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::nvlink_links_up).value), 1);
  tell({link(0, Reading::of(std::int64_t{1}, at(2))),
        link(1, Reading::none(Reason::failed, at(2)))});
  EXPECT_EQ(told(FieldId::nvlink_links_up).reason, Reason::failed);
}

TEST_F(DerivedFields, SayNotSupportedForLinksOfACardWithoutAny) {
  gpu.nvlinks.clear();
  derive.on_inventory({gpu});
  tell({{{}, FieldId::power, watts(70, 1)}});
  EXPECT_EQ(told(FieldId::nvlink_links_up).reason, Reason::not_supported);
}

TEST_F(DerivedFields, BeginAnewForAnotherCardInTheSlot) {
  tell({{{}, FieldId::power, watts(70, 1)}, {{}, FieldId::energy_driver, joules(9000, 1)}});
  EXPECT_EQ(as_double(told(FieldId::energy).value), 9000);
  gpu.uuid = "GPU-2";
  derive.on_inventory({gpu});
  tell({{{}, FieldId::power, watts(70, 2)}, {{}, FieldId::energy_driver, joules(20, 2)}});
  EXPECT_EQ(as_double(told(FieldId::energy).value), 20);
}

TEST_F(DerivedFields, KeepTheLastXidWhenTheProbeStartsAnewAndForgetItWithTheCard) {
  const auto read_as = [this](const Reading& reading) {
    tell({{{}, FieldId::last_xid, reading}});
    return told(FieldId::last_xid);
  };
  const Reading none_yet = Reading::of(std::int64_t{0}, at(2));
  EXPECT_EQ(read_as(none_yet).value, Value(std::int64_t{0}));
  derive.on_xid(gpu.pci, 79, at(1));
  derive.on_inventory({gpu});
  EXPECT_EQ(read_as(none_yet).value, Value(std::int64_t{79}));
  EXPECT_EQ(read_as(Reading::of(std::int64_t{31}, at(3))).value, Value(std::int64_t{31}));
  EXPECT_EQ(read_as(Reading::none(Reason::pending, at(4))).reason, Reason::pending);
  gpu.uuid = "GPU-2";
  derive.on_inventory({gpu});
  EXPECT_EQ(read_as(none_yet).value, Value(std::int64_t{0}));
}

TEST_F(DerivedFields, KeepTheCounterWhenTheProbeStartsAnew) {
  tell({{{}, FieldId::power, watts(70, 1)}, {{}, FieldId::energy_driver, joules(9000, 1)}});
  derive.on_inventory({gpu});
  tell({{{}, FieldId::power, watts(70, 2)}});
  EXPECT_GE(as_double(told(FieldId::energy).value), 9000);
}

}  // namespace
}  // namespace stoker::sample
