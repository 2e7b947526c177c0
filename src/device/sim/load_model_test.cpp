#include "device/sim/load_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "device/sim/state_test_support.h"

namespace stoker::sim {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

Gpu loaded(LoadKind kind, std::uint64_t seed = 1) {
  Gpu gpu = test_gpu(0);
  start_load(gpu, kind, seed, test_now_ns);
  return gpu;
}

// Means of ten seconds, half a minute after the load began, as the table of traces has them.
Activity mean_of(const Gpu& gpu) {
  constexpr int samples = 100;
  Activity sum;
  for (int i = 0; i < samples; ++i) {
    const Activity one = activity(gpu, test_now_ns + 30 * second + i * second / 10);
    sum.gpu_percent += one.gpu_percent / samples;
    sum.memory_percent += one.memory_percent / samples;
    sum.power_mw += one.power_mw / samples;
    sum.sm += one.sm / samples;
    sum.tensor += one.tensor / samples;
    sum.dram += one.dram / samples;
    sum.fp32 += one.fp32 / samples;
  }
  return sum;
}

struct Measured {
  LoadKind kind;
  double util, memory_util, power_w, sm, tensor, dram, fp32;
};

// docs/measurements.md, "Load traces": two H200, driver 580.159.04.
class LoadAgainstTrace : public testing::TestWithParam<Measured> {};

TEST_P(LoadAgainstTrace, StaysWithinThreePercentOfPowerAndTwoPointsOfEachShare) {
  const Measured& row = GetParam();
  const Activity mean = mean_of(loaded(row.kind));
  EXPECT_NEAR(mean.power_mw / 1000, row.power_w, row.power_w * 0.03);
  EXPECT_NEAR(mean.gpu_percent, row.util, 2);
  EXPECT_NEAR(mean.memory_percent, row.memory_util, 2);
  EXPECT_NEAR(mean.sm, row.sm, 2);
  EXPECT_NEAR(mean.tensor, row.tensor, 2);
  EXPECT_NEAR(mean.dram, row.dram, 2);
  EXPECT_NEAR(mean.fp32, row.fp32, 2);
}

INSTANTIATE_TEST_SUITE_P(Table, LoadAgainstTrace,
                         testing::Values(Measured{LoadKind::idle, 0, 0, 76, 0, 0, 0, 0},
                                         Measured{LoadKind::training, 99, 30, 694, 87, 69, 22, 1},
                                         Measured{LoadKind::decode, 90, 73, 447, 58, 2, 57, 0},
                                         Measured{LoadKind::starved, 2, 0.5, 131, 2, 1, 0.4, 0},
                                         Measured{LoadKind::hung_waiting, 100, 0, 120, 18, 0, 0, 0},
                                         Measured{LoadKind::hung_missing, 0, 0, 120, 0, 0, 0, 0},
                                         Measured{LoadKind::pipeline_wait, 100, 0, 121, 12, 0, 0,
                                                  0},
                                         Measured{LoadKind::alu, 100, 0, 432, 100, 6, 0, 89}),
                         [](const auto& row) { return std::string(to_string(row.param.kind)); });

TEST(LoadModel, ShowsTrainingHeldBackByItsPowerLimit) {
  const Activity now = activity(loaded(LoadKind::training), test_now_ns + 30 * second);
  EXPECT_EQ(now.clocks_event_reasons, 0x4U);
  EXPECT_NEAR(now.clock_mhz[1], 1840, 20);  // 1844 and 1833 MHz in the trace
  EXPECT_NEAR(now.temperature_c, 58, 2);    // 60 and 56 degrees
}

TEST(LoadModel, KeepsClocksUpWhileAProcessHoldsAContext) {
  const Activity held = activity(loaded(LoadKind::hung_missing), test_now_ns + 30 * second);
  EXPECT_EQ(held.clock_mhz[1], 1980);
  EXPECT_EQ(held.clocks_event_reasons, 0U);
  const Activity idle = activity(loaded(LoadKind::idle), test_now_ns + 30 * second);
  EXPECT_EQ(idle.clock_mhz[1], 345);
  EXPECT_EQ(idle.clocks_event_reasons, 0x1U);
}

TEST(LoadModel, WarmsUpWithALagAndNeverJumps) {
  const Gpu gpu = loaded(LoadKind::training);
  double before = activity(gpu, test_now_ns).temperature_c;
  EXPECT_NEAR(before, 35, 0.01);
  for (int tenth = 1; tenth < 300; ++tenth) {
    const double now = activity(gpu, test_now_ns + tenth * second / 10).temperature_c;
    EXPECT_GE(now, before - 1e-9);
    EXPECT_LT(now - before, 2);
    before = now;
  }
  EXPECT_NEAR(before, 58, 1);
}

RC_GTEST_PROP(LoadModel, EnergyIsTheIntegralOfThePowerShown, ()) {
  const auto kind = *rc::gen::elementOf(
      std::vector{LoadKind::idle, LoadKind::training, LoadKind::decode, LoadKind::starved});
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto length = *rc::gen::inRange<std::uint64_t>(1, 120) * second;
  const Gpu gpu = loaded(kind, seed);
  constexpr int steps = 20000;
  double sum_mj = 0;  // midpoint rule
  for (int i = 0; i < steps; ++i) {
    const auto at =
        test_now_ns + length * (2 * std::uint64_t{static_cast<unsigned>(i)} + 1) / (2 * steps);
    sum_mj += activity(gpu, at).power_mw * static_cast<double>(length) / 1e9 / steps;
  }
  const double told_mj = static_cast<double>(totals(gpu, test_now_ns + length).energy_uj) / 1000;
  RC_ASSERT(std::abs(told_mj - sum_mj) < 1 + sum_mj * 1e-6);
}

RC_GTEST_PROP(LoadModel, TotalsNeverFallAndTemperatureGoesOnWhenLoadsChange, ()) {
  Gpu gpu = test_gpu(0);
  std::uint64_t now = test_now_ns;
  const auto kinds = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 8U));
  for (const unsigned kind : kinds) {
    now += *rc::gen::inRange<std::uint64_t>(0, 60) * second;
    const Totals before = totals(gpu, now);
    const double warm = activity(gpu, now).temperature_c;
    start_load(gpu, static_cast<LoadKind>(kind), kind, now);
    const Totals after = totals(gpu, now);
    RC_ASSERT(after.energy_uj == before.energy_uj);
    RC_ASSERT(after.pcie_rx_bytes == before.pcie_rx_bytes);
    RC_ASSERT(after.nvlink_tx_bytes == before.nvlink_tx_bytes);
    RC_ASSERT(after.power_violation_ns == before.power_violation_ns);
    RC_ASSERT(std::abs(activity(gpu, now).temperature_c - warm) < 0.001);
  }
}

TEST(LoadModel, TwoSeedsDifferAndOneRepeats) {
  const Gpu one = loaded(LoadKind::decode, 1);
  const Gpu other = loaded(LoadKind::decode, 2);
  const std::uint64_t at = test_now_ns + 5 * second;
  EXPECT_EQ(activity(one, at).power_mw, activity(loaded(LoadKind::decode, 1), at).power_mw);
  EXPECT_NE(activity(one, at).power_mw, activity(other, at).power_mw);
}

TEST(LoadModel, SlowsDownAtTheCardsOwnThresholds) {
  Gpu gpu = loaded(LoadKind::training);
  gpu.disturbance.temperature_mc = 32'000;  // 58 + 32: past 87 (software) and 89 (hardware)
  const Activity hard = activity(gpu, test_now_ns + 60 * second);
  EXPECT_GE(hard.temperature_c, 88.5);
  EXPECT_EQ(hard.clocks_event_reasons & 0x68U, 0x48U);
  EXPECT_LT(hard.clock_mhz[1], 1000);
  gpu.thermal.threshold_c[1] = threshold_not_supported;
  const Activity soft = activity(gpu, test_now_ns + 60 * second);
  EXPECT_EQ(soft.clocks_event_reasons & 0x68U, 0x20U);
  EXPECT_GT(soft.clock_mhz[1], hard.clock_mhz[1]);
  EXPECT_GT(totals(gpu, test_now_ns + 60 * second).thermal_violation_ns, 50 * second);
}

TEST(LoadModel, ObeysALowerPowerLimit) {
  Gpu gpu = loaded(LoadKind::training);
  rebase(gpu, test_now_ns);
  gpu.power.enforced_mw = 350'000;
  const Activity now = activity(gpu, test_now_ns + 30 * second);
  EXPECT_LE(now.power_mw, 350'000);
  EXPECT_GT(now.power_mw, 340'000);
  EXPECT_LT(now.clock_mhz[1], 1600);
}

TEST(LoadModel, GivesAGpuInstanceItsOwnLoadAndItsShareOfTheLinks) {
  Gpu gpu = loaded(LoadKind::training);
  GpuInstance instance{};
  instance.profile = 4;  // 3g.40gb
  instance.load.kind = LoadKind::decode;
  EXPECT_NEAR(activity(gpu, instance, test_now_ns).dram, 57, 5);
  instance.load.kind = LoadKind::inherit;
  const Activity inherited = activity(gpu, instance, test_now_ns);
  EXPECT_NEAR(inherited.tensor, 69, 2);
  EXPECT_NEAR(inherited.pcie_rx_bytes_per_second,
              activity(gpu, test_now_ns).pcie_rx_bytes_per_second * 3 / 7, 1);
}

TEST(LoadModel, NamesEveryKindAndFindsItAgain) {
  for (unsigned kind = 0; kind < 8; ++kind) {
    EXPECT_EQ(load_kind(to_string(static_cast<LoadKind>(kind))), static_cast<LoadKind>(kind));
  }
  EXPECT_FALSE(load_kind("no such load"));
}

}  // namespace
}  // namespace stoker::sim
