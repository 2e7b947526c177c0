#include "device/probe/probe_lifecycle.h"

#include <gtest/gtest.h>

#include "device/probe/probe_world_test_support.h"

namespace stoker::device::probe {
namespace {

using testing::Test;

// A world of four GPUs that has run for a minute.
class RunningNode : public Test {
 protected:
  void SetUp() override {
    world.pass(Seconds(60));
    ASSERT_TRUE(world.ran_well());
    hang_begins = world.now();
  }
  Nanoseconds since_hang() const { return world.now() - hang_begins; }
  bool others_are_fresh() const {
    return world.age(1) <= Seconds(2) && world.age(2) <= Seconds(2) && world.age(3) <= Seconds(2);
  }

  ProbeWorld world{4};
  MonotonicTime hang_begins;
  const PciAddress first = gpu_address(0);
};

TEST_F(RunningNode, IsRunByOneProbeThatOpensEverything) {
  EXPECT_EQ(world.lifecycle().living(), 1U);
  ASSERT_EQ(world.started().size(), 1U);
  EXPECT_EQ(world.started()[0], Scope{});
  EXPECT_EQ(world.status().restarts, 0U);
  EXPECT_NE(world.status().probe_pid, 0);
}

TEST_F(RunningNode, TellsAGpuHungTenSecondsAfterItsCallBegan) {
  world.driver.hanging = {first};
  ASSERT_TRUE(world.pass_until([&] { return world.state(0) == GpuState::hung; }, Seconds(30)));
  EXPECT_GE(since_hang(), Seconds(10));
  EXPECT_LE(since_hang(), Seconds(11));
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, DisturbsNobodyBeforeTheDriversOwnTimeIsOver) {
  world.driver.hanging = {first};
  world.pass(Seconds(44));
  EXPECT_TRUE(world.record_of("leave").empty());
  EXPECT_TRUE(world.record_of("signal").empty());
  EXPECT_EQ(world.lifecycle().living(), 1U);
  EXPECT_TRUE(others_are_fresh());
}

TEST_F(RunningNode, TellsAGpuPresentAgainWhenItsCallComesBackInTime) {
  world.driver.hanging = {first};
  world.pass(Seconds(30));
  EXPECT_EQ(world.state(0), GpuState::hung);
  world.driver.hanging.clear();
  world.pass(Seconds(1));
  EXPECT_EQ(world.state(0), GpuState::present);
  EXPECT_TRUE(world.record_of("leave").empty());
}

TEST_F(RunningNode, AsksTheProbeToLeaveAtFortyFiveSecondsAndOpensTheOthersByAddress) {
  world.driver.hanging = {first};
  world.driver.uninterruptible = true;
  world.pass(Seconds(46));
  EXPECT_EQ(world.record_of("leave").size(), 1U);
  ASSERT_EQ(world.started().size(), 2U);
  EXPECT_TRUE(world.started()[1].no_attach);
  EXPECT_EQ(world.started()[1].only, (std::vector{gpu_address(1), gpu_address(2), gpu_address(3)}));
  EXPECT_EQ(world.lifecycle().living(), 2U);
  EXPECT_EQ(world.status().state, SourceState::running);
  EXPECT_EQ(world.state(0), GpuState::hung);
  EXPECT_TRUE(others_are_fresh());
}

TEST_F(RunningNode, SendsSigtermAtSixtyAndSigkillAtOneHundredAndTwentySeconds) {
  world.driver.hanging = {first};
  world.driver.uninterruptible = true;
  world.pass(Seconds(59));
  EXPECT_TRUE(world.record_of("signal 15").empty());
  world.pass(Seconds(2));
  EXPECT_EQ(world.record_of("signal 15").size(), 1U);
  world.pass(Seconds(58));
  EXPECT_TRUE(world.record_of("signal 9").empty());
  world.pass(Seconds(2));
  EXPECT_EQ(world.record_of("signal 9").size(), 1U);
}

TEST_F(RunningNode, GivesAYoungerCallItsTimeWhenTheOneThatItsProbeWasToLeaveForIsBack) {
  world.driver.hanging = {first};
  world.pass(Seconds(30));
  world.driver.hanging.insert(gpu_address(1));
  world.pass(Seconds(16));
  ASSERT_EQ(world.record_of("leave").size(), 1U);
  world.driver.hanging.erase(first);
  world.pass(Seconds(40));
  EXPECT_TRUE(world.record_of("signal").empty());
}

TEST_F(RunningNode, LeavesAProbeThatWillNotDieUnreapedAndCountsIt) {
  world.driver.hanging = {first};
  world.driver.uninterruptible = true;
  world.pass(Seconds(3600));
  EXPECT_EQ(world.status().stuck_probes, 1);
  EXPECT_EQ(world.lifecycle().living(), 2U);
  EXPECT_EQ(world.record_of("signal 9").size(), 1U);
  EXPECT_TRUE(others_are_fresh());
  EXPECT_EQ(world.state(0), GpuState::hung);
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, SaysThatTheDriverHangsWhenTheSecondProbeStallsToo) {
  world.driver.locked = true;
  world.driver.uninterruptible = true;
  world.pass(Seconds(12));
  for (int gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(world.state(gpu), GpuState::hung);
  world.pass(Seconds(32));
  EXPECT_EQ(world.status().state, SourceState::running);
  ASSERT_TRUE(world.pass_until([&] { return world.status().state == SourceState::driver_hung; },
                               Seconds(15)));
  EXPECT_GE(since_hang(), Seconds(55));
  EXPECT_LE(since_hang(), Seconds(57));
}

TEST_F(RunningNode, LeavesOnlyTheOldestCallsGpuAloneWhereNoGpuAnswers) {
  world.driver.hanging = {first};
  world.driver.one_lock = true;
  world.pass(Seconds(12));
  for (int gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(world.state(gpu), GpuState::hung);
  world.pass(Seconds(35));
  EXPECT_EQ(world.state(0), GpuState::hung);
  EXPECT_EQ(world.state(1), GpuState::present);
  EXPECT_TRUE(others_are_fresh());
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, SendsAScoutAwayThatStopsTheWholeDriverAndKeepsTheRunningProbe) {
  world.driver.hanging = {first};
  world.driver.one_lock = true;
  world.pass(Seconds(50));
  const ProbeId running = world.lifecycle().main();
  ASSERT_TRUE(world.pass_until([&] { return world.state(1) == GpuState::hung; }, Seconds(60)));
  ASSERT_TRUE(world.pass_until([&] { return world.state(1) == GpuState::present; }, Seconds(60)));
  EXPECT_EQ(world.lifecycle().main(), running);
  EXPECT_NE(world.status().state, SourceState::driver_hung);
  const auto looks = world.started().size();
  world.pass(Seconds(250));
  EXPECT_EQ(world.started().size(), looks);
  EXPECT_TRUE(others_are_fresh());
}

TEST_F(RunningNode, StartsNothingMoreWhileTheFirstProbeOfAHungDriverLives) {
  world.driver.locked = true;
  world.driver.uninterruptible = true;
  world.pass(Seconds(7200));
  EXPECT_EQ(world.started().size(), 2U);
  EXPECT_EQ(world.status().stuck_probes, 2);
  EXPECT_EQ(world.most_living, 2U);
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
}

TEST_F(RunningNode, StartsAgainWhenTheFirstProbeOfAHungDriverIsGone) {
  world.driver.locked = true;
  world.driver.uninterruptible = true;
  world.pass(Seconds(600));
  world.driver.locked = false;
  world.driver.uninterruptible = false;
  ASSERT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(30)));
  EXPECT_EQ(world.status().stuck_probes, 0);
}

TEST_F(RunningNode, StartsAgainWhenTheDriverWasLoadedAnewThoughTheFirstProbeLives) {
  world.make_immortal(world.lifecycle().main());
  world.driver.locked = true;
  world.pass(Seconds(300));
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
  EXPECT_EQ(world.status().stuck_probes, 1);
  EXPECT_EQ(world.started().size(), 2U);
  world.driver.locked = false;
  world.pass(Seconds(60));
  EXPECT_EQ(world.started().size(), 2U);
  world.reload_driver();
  ASSERT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(40)));
  EXPECT_EQ(world.status().stuck_probes, 1);
}

TEST_F(RunningNode, TakesAStallOfTheSecondProbeOnOneMoreGpuForAHungDriverAtFortyFiveSeconds) {
  world.driver.hanging = {first};
  world.driver.uninterruptible = true;
  world.pass(Seconds(100));
  world.driver.hanging.insert(gpu_address(1));
  world.pass(Seconds(12));
  EXPECT_EQ(world.state(1), GpuState::hung);
  EXPECT_EQ(world.status().state, SourceState::running);
  EXPECT_LE(world.age(2), Seconds(2));
  world.pass(Seconds(35));
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
}

TEST_F(RunningNode, BringsAHungGpuBackThroughAScoutWithoutAGapForTheOthers) {
  world.driver.hanging = {first};
  world.pass(Seconds(50));
  EXPECT_EQ(world.lifecycle().living(), 1U);
  EXPECT_EQ(world.state(0), GpuState::hung);
  world.driver.hanging.clear();
  Nanoseconds oldest{0};
  ASSERT_TRUE(world.pass_until(
      [&] {
        oldest = std::max({oldest, world.age(1), world.age(2), world.age(3)});
        return world.ran_well();
      },
      Seconds(60)));
  EXPECT_LE(oldest, Seconds(1));
  EXPECT_EQ(world.started().back(), Scope{});
  EXPECT_EQ(world.most_living, 2U);
}

TEST_F(RunningNode, BringsAHungGpuBackThoughItsSuccessorCouldNotBeStartedAtFirst) {
  world.driver.hanging = {first};
  world.pass(Seconds(50));
  world.driver.hanging.clear();
  world.driver.refuses_to_open_all = true;
  ASSERT_TRUE(world.pass_until([&] { return !world.record_of("refuse").empty(); }, Seconds(60)));
  world.driver.refuses_to_open_all = false;
  EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(600)));
  EXPECT_EQ(world.state(0), GpuState::present);
}

TEST_F(RunningNode, LooksAtAGpuThatKeepsHangingEverMoreSeldom) {
  world.driver.hanging = {first};
  world.pass(Seconds(3600));
  const auto starts = world.started().size();
  EXPECT_GE(starts, 5U);
  EXPECT_LE(starts, 20U);
  EXPECT_TRUE(others_are_fresh());
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, KeepsTheOthersWhenAScoutIsStuckForGood) {
  world.driver.hanging = {first};
  world.pass(Seconds(50));
  world.driver.uninterruptible = true;
  world.pass(Seconds(600));
  EXPECT_EQ(world.status().stuck_probes, 1);
  EXPECT_TRUE(others_are_fresh());
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, TellsALostGpuAndSeesItsReturnWithinTwentySeconds) {
  world.driver.lost = {first};
  world.pass(Seconds(1));
  EXPECT_EQ(world.state(0), GpuState::lost);
  world.pass(Seconds(100));
  EXPECT_TRUE(others_are_fresh());
  world.driver.lost.clear();
  // A process that had the GPU open when it was lost never sees it again.
  ASSERT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(20)));
  EXPECT_TRUE(others_are_fresh());
}

TEST_F(RunningNode, SeesTheReturnOfAGpuThatWasLostBeforeTheProbeStarted) {
  world.driver.lost = {first};
  world.pass(Seconds(5));
  world.kill_main();
  world.pass(Seconds(5));
  EXPECT_EQ(world.state(0), GpuState::lost);
  world.driver.lost.clear();
  ASSERT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(20)));
}

TEST_F(RunningNode, StartsAnewAtOnceWhenTheProbeIsKilled) {
  world.kill_main();
  world.pass(Seconds(2));
  EXPECT_TRUE(world.ran_well());
  EXPECT_EQ(world.status().restarts, 1U);
  EXPECT_TRUE(others_are_fresh());
}

TEST_F(RunningNode, StartsAProbeThatKeepsDyingEverMoreSlowly) {
  for (int second = 0; second < 120; ++second) {
    if (world.lifecycle().main() != 0) world.kill_main();
    world.pass(Seconds(1));
  }
  EXPECT_LE(world.started().size(), 16U);
  EXPECT_EQ(world.status().state, SourceState::failed);
}

TEST_F(RunningNode, SaysThatItsProbeWasStoppedAndWakesIt) {
  world.stop_main();
  ASSERT_TRUE(
      world.pass_until([&] { return world.record_of("signal 18").size() == 1; }, Seconds(20)));
  EXPECT_LE(since_hang(), Seconds(11));
  EXPECT_NE(world.status().detail.find("stopped"), std::string::npos);
  EXPECT_EQ(world.status().state, SourceState::failed);
  world.pass(Seconds(1));
  EXPECT_TRUE(world.ran_well());
  EXPECT_TRUE(world.record_of("signal 9").empty());
}

TEST_F(RunningNode, ReplacesAStoppedProbeThatDoesNotWake) {
  world.stays_stopped = true;
  world.stop_main();
  world.pass(Seconds(23));
  EXPECT_EQ(world.record_of("signal 9").size(), 1U);
  EXPECT_TRUE(world.ran_well());
}

TEST_F(RunningNode, TellsReleasedOnlyWhenNoProbeLives) {
  world.driver.hanging = {first};
  world.driver.uninterruptible = true;
  world.pass(Seconds(3));
  world.release();
  world.pass(Seconds(10));
  EXPECT_NE(world.status().state, SourceState::released);
  EXPECT_NE(world.status().detail.find("letting go"), std::string::npos);
  world.driver = FakeDriver{.gpus = world.driver.gpus};
  world.pass(Seconds(1));
  EXPECT_EQ(world.status().state, SourceState::released);
  world.pass(Seconds(100));
  EXPECT_EQ(world.lifecycle().living(), 0U);
  world.resume();
  world.pass(Seconds(2));
  EXPECT_TRUE(world.ran_well());
}

TEST_F(RunningNode, SaysThatTheDriverIsGoneAndSeesItsReturnWithinTwentySeconds) {
  world.driver.unloaded = true;
  world.driver.refuses = SourceState::driver_missing;
  world.pass(Seconds(2));
  EXPECT_EQ(world.status().state, SourceState::driver_missing);
  world.pass(Seconds(300));
  EXPECT_EQ(world.status().state, SourceState::driver_missing);
  world.driver.unloaded = false;
  world.driver.refuses.reset();
  ASSERT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(20)));
}

TEST_F(RunningNode, BlamesNoProbeForATimeInWhichTheAgentItselfDidNotRun) {
  world.agent_sleeps(Seconds(30));
  EXPECT_TRUE(world.ran_well());
  world.pass(Seconds(5));
  EXPECT_TRUE(world.ran_well());
  EXPECT_TRUE(world.record_of("gpu").empty());
  EXPECT_TRUE(world.record_of("signal").empty());
  EXPECT_EQ(world.started().size(), 1U);
}

TEST_F(RunningNode, TellsASilentProbeAfterTheAgentHasSlept) {
  world.stop_main();
  world.agent_sleeps(Seconds(30));
  world.stays_stopped = true;
  world.pass(Seconds(12));
  EXPECT_EQ(world.status().state, SourceState::failed);
}

TEST_F(RunningNode, LooksAgainBeforeItKillsAStoppedProbe) {
  world.stays_stopped = true;
  world.stop_main();
  ASSERT_TRUE(
      world.pass_until([&] { return world.record_of("signal 18").size() == 1; }, Seconds(20)));
  world.pass(Seconds(9));
  world.wake_main_just_before_the_next_look();
  world.pass(Seconds(5));
  EXPECT_TRUE(world.record_of("signal 9").empty());
  EXPECT_TRUE(world.ran_well());
}

TEST_F(RunningNode, IsHungWhenTheRunningProbeAndASuccessorAreBothStuckAndComesBackWhenOneIsGone) {
  world.driver.lost = {first};
  world.pass(Seconds(1));
  world.driver.lost.clear();
  // Stuck at once, while the scout or the successor that follows it starts.
  ASSERT_TRUE(world.pass_until([&] { return world.lifecycle().living() == 2; }, Seconds(20)));
  world.driver.locked = true;
  world.driver.uninterruptible = true;
  world.pass(Seconds(120));
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
  EXPECT_EQ(world.lifecycle().living(), 2U);
  world.driver = FakeDriver{.gpus = world.driver.gpus};
  EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(60)));
}

TEST_F(RunningNode, IsReadAgainAfterAHangThoughAScoutIsStuckForGood) {
  world.driver.hanging = {first};
  ASSERT_TRUE(world.pass_until([&] { return world.started().size() == 3; }, Seconds(120)));
  world.make_immortal(3);  // the scout
  world.pass(Seconds(60));
  ASSERT_EQ(world.status().stuck_probes, 1);
  world.driver.locked = true;
  world.pass(Seconds(130));  // up to SIGKILL's time the scout may be what holds up the others
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
  world.driver.locked = false;
  ASSERT_TRUE(
      world.pass_until([&] { return world.status().state == SourceState::running; }, Seconds(120)));
  EXPECT_TRUE(world.pass_until([&] { return others_are_fresh(); }, Seconds(10)));
}

TEST_F(RunningNode, IsNotMovedByAClockSetBack) {
  world.clock().set_wall(WallTime{Seconds(1000)});
  world.pass(Seconds(60));
  EXPECT_TRUE(world.ran_well());
  EXPECT_EQ(world.started().size(), 1U);
}

TEST(FreshNode, TellsWhyTheDriverCanNotBeUsedAndKeepsTrying) {
  for (const SourceState state : {SourceState::library_missing, SourceState::driver_missing,
                                  SourceState::version_mismatch, SourceState::no_permission}) {
    ProbeWorld world(2);
    world.driver.refuses = state;
    world.pass(Seconds(1));
    EXPECT_EQ(world.status().state, state);
    world.pass(Seconds(120));
    EXPECT_EQ(world.status().state, state);
    EXPECT_LE(world.started().size(), 12U);
    world.driver.refuses.reset();
    EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(20)));
  }
}

TEST(FreshNode, SaysThatTheDriverHangsWhenItCanNotEvenBeStarted) {
  ProbeWorld world(2);
  world.driver.locked = true;
  world.pass(Seconds(12));
  EXPECT_EQ(world.status().state, SourceState::starting);
  EXPECT_NE(world.status().detail.find("has not started"), std::string::npos);
  world.pass(Seconds(45));
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
  EXPECT_TRUE(world.started().back().no_attach);
  world.driver.locked = false;
  EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(120)));
}

TEST(FreshNode, ServesTheOthersOfAGpuThatDoesNotOpenAndSaysSo) {
  ProbeWorld world(4);
  world.driver.hanging_open = {gpu_address(1)};
  world.pass(Seconds(2));
  EXPECT_EQ(world.status().state, SourceState::running);
  EXPECT_EQ(world.status().unopened_gpus, 1);
  EXPECT_LE(world.age(0), Seconds(1));
  EXPECT_LE(world.age(2), Seconds(1));
  // Beyond patience another probe opens what is known, and the one that is not stays told.
  world.pass(Seconds(120));
  EXPECT_EQ(world.status().state, SourceState::running);
  EXPECT_EQ(world.status().unopened_gpus, 1);
  EXPECT_NE(world.status().detail.find("GPU number 1 can't be opened"), std::string::npos);
  EXPECT_LE(world.age(0), Seconds(1));
  EXPECT_LE(world.age(3), Seconds(1));
  world.driver.hanging_open.clear();
  EXPECT_TRUE(world.pass_until([&] { return world.age(1) <= Seconds(1); }, Seconds(600)));
  EXPECT_EQ(world.status().unopened_gpus, 0);
  EXPECT_EQ(world.most_living, 2U);
}

TEST(FreshNode, LooksAtAGpuThatNeverOpensEverMoreSeldom) {
  ProbeWorld world(2);
  world.driver.hanging_open = {gpu_address(1)};
  world.pass(Seconds(3600));
  EXPECT_LE(world.started().size(), 20U);
  EXPECT_LE(world.age(0), Seconds(1));
  EXPECT_EQ(world.status().state, SourceState::running);
}

TEST_F(RunningNode, NamesAGpuThatDoesNotOpenByTheIndexThatItHad) {
  world.driver.hanging_open = {first};
  world.kill_main();
  world.pass(Seconds(13));
  EXPECT_EQ(world.state(0), GpuState::hung);
  EXPECT_TRUE(others_are_fresh());
  EXPECT_EQ(world.status().unopened_gpus, 0);
  world.driver.hanging_open.clear();
  EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(5)));
}

TEST(FreshNode, IsHungWhenNoGpuOpens) {
  ProbeWorld world(2);
  world.driver.hanging_open = {gpu_address(0), gpu_address(1)};
  world.pass(Seconds(60));
  EXPECT_EQ(world.status().state, SourceState::driver_hung);
  world.driver.hanging_open.clear();
  EXPECT_TRUE(world.pass_until([&] { return world.ran_well(); }, Seconds(120)));
}

}  // namespace
}  // namespace stoker::device::probe
