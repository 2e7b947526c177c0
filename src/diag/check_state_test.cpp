// Level 1: what could not be read is no pass, and an NVLink that is down is a fault where others have theirs up.
#include "diag/check_state.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stoker::diag {
namespace {

store::GpuSnapshot sound_card(std::uint32_t index, const std::string& name = "NVIDIA H200") {
  store::GpuSnapshot gpu;
  gpu.info.index = index;
  gpu.info.uuid = "GPU-" + std::to_string(index);
  gpu.info.name = name;
  gpu.info.nvlinks.resize(18);
  gpu.info.max_pcie_width = 16;
  gpu.info.max_pcie_generation = 5;
  gpu.info.slowdown_celsius = 90;
  gpu.info.power_limit_default_watts = 700;
  gpu.process_outcome = Reading::of(std::int64_t{0}, {});
  for (const FieldId id : {FieldId::power, FieldId::recovery_action, FieldId::row_remap_failure,
                           FieldId::temperature, FieldId::throttle_reasons, FieldId::pcie_width,
                           FieldId::power_limit, FieldId::memory_used}) {
    gpu.readings.set(id, Reading::of(std::int64_t{0}, {Seconds(1)}));
  }
  gpu.readings.set(FieldId::nvlink_links_up, Reading::of(std::int64_t{18}, {Seconds(1)}));
  return gpu;
}

store::Snapshot node_of(std::vector<store::GpuSnapshot> gpus) {
  store::Snapshot node;
  node.source.state = device::SourceState::running;
  node.driver = device::DriverInfo{.driver_version = "580.159.04"};
  node.gpus = std::move(gpus);
  return node;
}

TestResult state(const store::Snapshot& node, const std::string& name, std::uint32_t gpu = 0,
                 const std::vector<Finding>& findings = {}) {
  for (const auto& one : check_state(node, findings, {})) {
    if (one.name == name && (!one.gpu || *one.gpu == gpu)) return one;
  }
  return {.reason = "not there"};
}

TEST(CheckState, PassesWhatWasReadAndIsWell) {
  const auto node = node_of({sound_card(0), sound_card(1)});
  EXPECT_EQ(state(node, "driver").verdict, Verdict::pass);
  EXPECT_EQ(state(node, "state_nvlink").verdict, Verdict::pass);
  EXPECT_EQ(state(node, "state_temperature").verdict, Verdict::pass);
}

TEST(CheckState, NeverPassesWhatWasNotRead) {
  auto card = sound_card(0);
  card.readings.set(FieldId::temperature, Reading::none(Reason::failed, {Seconds(2)}));
  card.readings.set(FieldId::power, Reading::none(Reason::not_supported, {Seconds(2)}));
  const auto node = node_of({card});
  EXPECT_EQ(state(node, "state_temperature").verdict, Verdict::not_tested);
  EXPECT_TRUE(state(node, "state_temperature").hindered);
  EXPECT_EQ(state(node, "state_answers").verdict, Verdict::not_tested);
  EXPECT_FALSE(state(node, "state_answers").hindered);
  EXPECT_TRUE(state(node, "state_ecc").hindered);  // never told
}

TEST(CheckState, FailsByAFindingOfWarningOrWorseAndTellsALesserOne) {
  const auto node = node_of({sound_card(0), sound_card(1)});
  const Finding remap{.rule = "row-remap-pending",
                      .severity = Severity::warning,
                      .entity = {EntityKind::gpu, "GPU-1"},
                      .message = "a row waits"};
  EXPECT_EQ(state(node, "state_row_remap", 1, {remap}).verdict, Verdict::fail);
  EXPECT_EQ(state(node, "state_row_remap", 1, {remap}).reason, "a row waits");
  EXPECT_EQ(state(node, "state_row_remap", 0, {remap}).verdict, Verdict::pass);
  Finding told = remap;
  told.severity = Severity::info;
  EXPECT_EQ(state(node, "state_row_remap", 1, {told}).verdict, Verdict::pass);
  EXPECT_EQ(state(node, "state_row_remap", 1, {told}).reason, "a row waits");
}

TEST(CheckState, PassesNothingWhoseLimitWasNotTold) {
  auto card = sound_card(0);
  EXPECT_EQ(state(node_of({card}), "state_pcie").verdict, Verdict::pass);
  card.info.max_pcie_width = 0;
  card.info.slowdown_celsius = 0;
  card.info.power_limit_default_watts = 0;
  for (const char* test : {"state_pcie", "state_temperature", "state_power_limit"}) {
    EXPECT_TRUE(state(node_of({card}), test).hindered) << test;
    EXPECT_EQ(state(node_of({card}), test).verdict, Verdict::not_tested) << test;
  }
  card.readings.set(FieldId::thermal_margin, Reading::of(std::int64_t{30}, {Seconds(1)}));
  EXPECT_EQ(state(node_of({card}), "state_temperature").verdict, Verdict::pass);
}

TEST(CheckState, FailsNothingThatIsOnlySuspected) {
  const auto node = node_of({sound_card(0)});
  Finding brake{.rule = "throttle-power-brake",
                .severity = Severity::error,
                .state = FindingState::suspect,
                .entity = {EntityKind::gpu, "GPU-0"},
                .message = "held down"};
  EXPECT_TRUE(is_suspected(node, {brake}, {}));
  EXPECT_EQ(state(node, "state_throttle", 0, {brake}).verdict, Verdict::not_tested);
  EXPECT_TRUE(state(node, "state_throttle", 0, {brake}).hindered);
  EXPECT_EQ(state(node, "state_throttle", 0, {brake}).reason, "suspect: held down");
  Finding fires = brake;
  fires.state = FindingState::firing;
  EXPECT_FALSE(is_suspected(node, {fires}, {}));
  EXPECT_EQ(state(node, "state_throttle", 0, {brake, fires}).verdict, Verdict::fail);
  EXPECT_EQ(state(node, "state_throttle", 0, {fires, brake}).verdict, Verdict::fail);
}

TEST(CheckState, WaitsOnlyForWhatIsSuspectedOfTheNodeAndOfCardsThatWereAskedFor) {
  const auto node = node_of({sound_card(0), sound_card(1)});
  const auto suspected = [](const char* rule, Entity entity) {
    return std::vector{Finding{.rule = rule,
                               .severity = Severity::error,
                               .state = FindingState::suspect,
                               .entity = std::move(entity)}};
  };
  const auto of_first = suspected("throttle-power-brake", {EntityKind::gpu, "GPU-0"});
  EXPECT_TRUE(is_suspected(node, of_first, {0}));
  EXPECT_FALSE(is_suspected(node, of_first, {1}));
  EXPECT_TRUE(is_suspected(node, suspected("nvlink-down", {EntityKind::nvlink, "GPU-1/3"}), {1}));
  EXPECT_TRUE(is_suspected(node, suspected("driver-missing", {EntityKind::node, ""}), {1}));
  EXPECT_FALSE(is_suspected(node, suspected("no-such-test", {EntityKind::gpu, "GPU-1"}), {1}));
}

TEST(CheckState, FailsLinksThatAreDownWhereTheProductOrASisterHasThemUp) {
  auto all_down = sound_card(0);
  all_down.readings.set(FieldId::nvlink_links_up, Reading::of(std::int64_t{0}, {Seconds(2)}));
  const auto dead = state(node_of({all_down, sound_card(1)}), "state_nvlink");
  EXPECT_EQ(dead.verdict, Verdict::fail);
  EXPECT_EQ(dead.reason, "0 of 18 NVLinks are up");
  auto bridged = all_down;
  bridged.info.name = "NVIDIA A30";  // has a bridge, or none
  auto other = bridged;
  other.info.index = 1;
  EXPECT_EQ(state(node_of({bridged, other}), "state_nvlink").verdict, Verdict::not_tested);
  EXPECT_EQ(state(node_of({bridged, sound_card(1, "NVIDIA A30")}), "state_nvlink").verdict,
            Verdict::fail);
}

TEST(CheckState, HasNoNvlinkToTestInMigModeOrOnTheOnlyCard) {
  auto card = sound_card(0);
  card.readings.set(FieldId::nvlink_links_up, Reading::of(std::int64_t{0}, {Seconds(2)}));
  const auto alone = state(node_of({card}), "state_nvlink");
  EXPECT_EQ(alone.verdict, Verdict::not_tested);
  EXPECT_FALSE(alone.hindered);
  card.info.mig_enabled = true;
  const auto mig = state(node_of({card, sound_card(1)}), "state_nvlink");
  EXPECT_EQ(mig.verdict, Verdict::not_tested);
  EXPECT_FALSE(mig.hindered);
}

TEST(CheckState, KnowsThatAProductHasNvlinksWhereNoneIsTold) {
  auto card = sound_card(0);
  card.readings.set(FieldId::nvlink_links_up, Reading::none(Reason::not_supported, {Seconds(2)}));
  EXPECT_TRUE(state(node_of({card, sound_card(1)}), "state_nvlink").hindered);
  EXPECT_FALSE(state(node_of({card}), "state_nvlink").hindered);
}

TEST(UsersOf, AreProcessesMemoryThatNobodyListsAndWhoCantBeRead) {
  auto card = sound_card(0);
  EXPECT_TRUE(users_of(card).who.empty());
  card.processes.push_back({.pid = 42, .name = "python3"});
  EXPECT_EQ(users_of(card).who, std::vector<std::string>{"process 42 (python3)"});
  auto hidden = sound_card(0);
  hidden.readings.set(FieldId::memory_used, Reading::of(std::int64_t{4} << 30, {Seconds(2)}));
  EXPECT_EQ(users_of(hidden).who.size(), 1U);
  auto unread = sound_card(0);
  unread.process_outcome = Reading::none(Reason::no_permission, {});
  EXPECT_TRUE(users_of(unread).unknown);
}

}  // namespace
}  // namespace stoker::diag
