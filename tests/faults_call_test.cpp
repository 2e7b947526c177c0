// Faults of single calls: one that never returns, one lock for all, a call that is stuck in the
// kernel. In each the node says what is so in time, and nothing else goes stale.
#include <csignal>
#include <filesystem>

#include "support/faulty_node.h"
#include "support/stuck_file.h"

namespace stoker::test {
namespace {

using CallFaults = FaultyNode;

TEST_F(CallFaults, AGetterThatNeverReturnsMakesItsGpuHungAndNoOther) {
  watch_until_well();
  unharmed = {0, 2, 3};
  inject("hang", "1", {}, "nvmlDeviceGetTemperature");
  ASSERT_TRUE(wait_for_state(1, GpuState::hung)) << describe();
  EXPECT_GE(since_fault(), hung_after);
  EXPECT_NE(now.gpus[1].state_detail.find("temperature"), std::string::npos) << describe();
  EXPECT_EQ(reasons(1), std::set{Reason::hung});

  // The probe is asked to leave, and does, since this hang is one that a process can leave.
  ASSERT_TRUE(wait([this] { return now.source.restarts == 1; }, Seconds(3))) << describe();
  wait([] { return false; }, Seconds(2));
  EXPECT_EQ(now.source.state, SourceState::running);
  EXPECT_EQ(now.source.stuck_probes, 0);
  EXPECT_EQ(reasons(1), std::set{Reason::hung});
  EXPECT_LE(oldest_unharmed, fresh);

  heal();
  EXPECT_TRUE(wait_until_well()) << describe();
  EXPECT_LE(oldest_unharmed, fresh);
}

TEST_F(CallFaults, AGpuWhoseOpeningNeverReturnsKeepsNoOtherFromBeingServed) {
  inject("hang", "1", {}, "nvmlDeviceGetHandleByIndex_v2");
  watch();
  const auto others_are_read = [this] {
    if (now.source.state != SourceState::running || now.gpus.size() != 3) return false;
    return age(0) < fresh && age(1) < fresh && age(2) < fresh;
  };
  ASSERT_TRUE(wait(others_are_read, Seconds(20))) << describe();
  EXPECT_EQ(now.source.unopened_gpus, 1) << describe();
  unharmed = {0, 1, 2};
  // Beyond patience a second probe opens those three, and what does not open stays told.
  ASSERT_TRUE(
      wait([this] { return now.source.restarts == 1; }, options.timing.leave_after + Seconds(10)))
      << describe();
  ASSERT_TRUE(wait(others_are_read, Seconds(5))) << describe();
  EXPECT_EQ(now.source.unopened_gpus, 1) << describe();
  EXPECT_LE(oldest_unharmed, fresh);
  unharmed.clear();  // its place among the four is another one
  heal();
  EXPECT_TRUE(wait_until_well()) << describe();
  EXPECT_EQ(now.source.unopened_gpus, 0) << describe();
}

TEST_F(CallFaults, AKnownGpuWhoseOpeningNeverReturnsIsHungAndNoOther) {
  watch_until_well();
  inject("hang", "1", {}, "nvmlDeviceGetHandleByIndex_v2");
  kill(now.source.probe_pid, SIGKILL);
  ASSERT_TRUE(wait_for_state(1, GpuState::hung, told_within + Seconds(2))) << describe();
  EXPECT_EQ(reason(0), Reason::ok);
  EXPECT_EQ(reason(2), Reason::ok);
  EXPECT_EQ(reason(3), Reason::ok);
  heal();
  EXPECT_TRUE(wait_until_well()) << describe();
}

TEST_F(CallFaults, ACallThatComesBackInTimeEndsTheHang) {
  watch_until_well();
  unharmed = {0, 1, 2};
  const auto pid = now.source.probe_pid;
  const auto slow = node->inject(
      {.name = "slow", .gpu = "3", .call = "nvmlDeviceGetTemperature", .delay = "1500ms"});
  ASSERT_TRUE(slow.has_value()) << slow.error().describe();
  ASSERT_TRUE(wait_for_state(3, GpuState::hung)) << describe();
  heal();
  EXPECT_TRUE(wait_until_well(Seconds(3))) << describe();
  EXPECT_EQ(now.source.probe_pid, pid);
  EXPECT_LE(oldest_unharmed, fresh);
}

TEST_F(CallFaults, ACallThatHoldsTheDriversOneLockStopsAllUntilItsProbeIsGone) {
  watch_until_well();
  inject("global-lock");
  inject("hang", "0");
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    ASSERT_TRUE(wait_for_state(gpu, GpuState::hung)) << describe();
  }
  const auto others_are_read = [this] {
    return reason(1) == Reason::ok && reason(2) == Reason::ok && reason(3) == Reason::ok;
  };
  EXPECT_TRUE(wait(others_are_read, options.timing.leave_after + Seconds(1))) << describe();
  EXPECT_EQ(reasons(0), std::set{Reason::hung});
  EXPECT_LE(most_probes, 2U);
  heal();
  EXPECT_TRUE(wait_until_well()) << describe();
}

class KernelFaults : public FaultyNode {
 protected:
  void SetUp() override {
    FaultyNode::SetUp();
    std::filesystem::create_directory(mount_.path("mnt"));
    stuck.emplace(mount_.path("mnt"));
    if (!stuck->problem().empty()) GTEST_SKIP() << "no file that gets stuck: " << stuck->problem();
  }
  void TearDown() override {
    if (stuck) stuck->let_go();
    FaultyNode::TearDown();
  }
  std::optional<StuckFile> stuck;

 private:
  TempFolder mount_;
};

TEST_F(KernelFaults, AProbeStuckInTheKernelIsLeftAloneAndTheOthersAreReadByASecondOne) {
  watch_until_well();
  unharmed = {0, 1, 3};
  const auto first = now.source.probe_pid;
  inject("block-on", "2", {stuck->path()});
  ASSERT_TRUE(wait_for_state(2, GpuState::hung)) << describe();
  EXPECT_FALSE(uninterruptible(first));

  ASSERT_TRUE(wait([this] { return now.source.stuck_probes == 1; }, Seconds(5))) << describe();
  const auto kill_by = options.timing.kill_after + Seconds(2);
  ASSERT_TRUE(wait([&] { return since_fault() > kill_by; }, kill_by + Seconds(1)));
  EXPECT_TRUE(uninterruptible(first)) << "SIGKILL ended what was to be stuck in the kernel";
  EXPECT_NE(now.source.probe_pid, first);
  EXPECT_EQ(now.source.state, SourceState::running) << describe();
  EXPECT_EQ(reasons(2), std::set{Reason::hung});
  EXPECT_EQ(now.source.stuck_probes, 1);
  EXPECT_EQ(most_probes, 2U);
  EXPECT_LE(oldest_unharmed, fresh);

  heal();
  stuck->let_go();
  EXPECT_TRUE(wait_until_well()) << describe();
  EXPECT_EQ(now.source.stuck_probes, 0);
  EXPECT_LE(oldest_unharmed, fresh);
  EXPECT_EQ(most_probes, 2U);
}

TEST_F(KernelFaults, ADriverWhoseOneLockIsHeldInTheKernelIsHungAndGetsNoThirdProbe) {
  watch_until_well();
  inject("global-lock");
  inject("block-on", "0", {stuck->path()});
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    ASSERT_TRUE(wait_for_state(gpu, GpuState::hung)) << describe();
  }
  // The second probe starts when the first is asked to leave, and stalls too.
  const Nanoseconds verdict_by = options.timing.leave_after + told_within;
  ASSERT_TRUE(wait_for_source(SourceState::driver_hung, verdict_by)) << describe();
  wait([] { return false; }, options.timing.kill_after);
  for (unsigned gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(reasons(gpu), std::set{Reason::hung});
  EXPECT_EQ(now.source.state, SourceState::driver_hung) << describe();
  EXPECT_EQ(most_probes, 2U);
  heal();
  stuck->let_go();
  EXPECT_TRUE(wait_until_well()) << describe();
}

}  // namespace
}  // namespace stoker::test
