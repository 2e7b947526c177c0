#include "health/node_status.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "health/recovery.h"
#include "health/rules.h"
#include "store/store_test_support.h"

namespace stoker::health {
namespace {

using device::GpuState;
using device::SourceState;
using store::pci_of;
using store::RunningStore;

// Eight GPUs that answer.
class Node : public RunningStore {
 public:
  explicit Node(unsigned count = 8) : RunningStore(count) {
    answer(count);
    store.on_node_devices({});
  }
  void answer(unsigned count) {
    for (unsigned n = 0; n < count; ++n) read(n, FieldId::temperature, 40);
  }
  [[nodiscard]] std::vector<Finding> findings() const { return evaluate(store.snapshot()); }
  [[nodiscard]] NodeVerdict verdict() const {
    const store::Snapshot snapshot = store.snapshot();
    return judge(snapshot, evaluate(snapshot));
  }
};

std::optional<Finding> find(const std::vector<Finding>& findings, std::string_view rule_name) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& finding) { return finding.rule == rule_name; });
  return at != findings.end() ? std::optional(*at) : std::nullopt;
}

TEST(NodeStatus, ANodeWhoseGpusAllAnswerIsOkAndHasNoFinding) {
  const Node node;
  EXPECT_TRUE(node.findings().empty());
  EXPECT_EQ(node.verdict().verdict, Verdict::ok);
  EXPECT_EQ(node.verdict().reason, "8 of 8 GPUs answer");
}

TEST(NodeStatus, ALostGpuIsCriticalAndTheReasonCountsTheOthers) {
  Node node;
  node.store.on_gpu_state(pci_of(3), GpuState::lost, "NVML: GPU is lost");
  const auto finding = find(node.findings(), "gpu-lost");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_EQ(finding->entity.id, store::gpu_info(3).uuid);
  EXPECT_EQ(finding->evidence.at(0), "NVML: GPU is lost");
  EXPECT_EQ(node.verdict().verdict, Verdict::critical);
  EXPECT_EQ(node.verdict().reason, "GPU 3 (0000:13:00.0) is lost; 7 of 8 GPUs answer");
}

TEST(NodeStatus, SaysWhyNobodyCanBeNamedAndStaysOk) {
  Node node;
  Attribution told;
  told.processes = {.reason = Reason::no_permission, .detail = "set hostPID: true"};
  told.pods = {.reason = Reason::failed, .detail = "nothing listens"};
  node.store.on_attribution(told);
  const auto processes = find(node.findings(), "attribution-processes");
  ASSERT_TRUE(processes);
  EXPECT_EQ(processes->severity, Severity::info);
  EXPECT_EQ(processes->evidence.at(0), "set hostPID: true");
  ASSERT_TRUE(find(node.findings(), "attribution-pods"));
  EXPECT_EQ(node.verdict().verdict, Verdict::ok) << "the GPUs are as well as before";
  told.processes = {.reason = Reason::ok};
  told.pods = {.reason = Reason::no_source};
  node.store.on_attribution(told);
  EXPECT_TRUE(node.findings().empty()) << "a node without a kubelet lacks nothing";
}

TEST(NodeStatus, AGpuThatCanNotBeOpenedIsToldAndNeverOk) {
  Node node(7);
  node.store.on_status({.state = SourceState::running,
                        .detail = "GPU 7 can't be opened: NVML: GPU is lost. ",
                        .unopened_gpus = 1});
  const auto finding = find(node.findings(), "gpu-unopened");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence.at(0), "GPU 7 can't be opened: NVML: GPU is lost. ");
  EXPECT_EQ(node.verdict().verdict, Verdict::critical);
  EXPECT_EQ(node.verdict().reason, "1 of the driver's GPUs can't be opened; 7 of 8 GPUs answer");
}

TEST(NodeStatus, AGpuThatCanNotBeOpenedIsNamedWhereTheBusTellsWhichItIs) {
  Node node(2);
  NodeDevices devices;
  for (const unsigned n : {0U, 1U, 3U}) devices.gpus[pci_of(n)] = {};
  node.store.on_node_devices(devices);
  node.store.on_status({.state = SourceState::running, .unopened_gpus = 1});
  EXPECT_EQ(find(node.findings(), "gpu-unopened")->entity,
            (Entity{EntityKind::gpu, pci_of(3).sysfs()}));
  node.store.on_status({.state = SourceState::running, .unopened_gpus = 2});
  EXPECT_EQ(find(node.findings(), "gpu-unopened")->entity.kind, EntityKind::node)
      << "one of two, and nobody knows which";
}

TEST(NodeStatus, WhichGpuCanNotBeOpenedIsWaitedForAMoment) {
  RunningStore node(2);
  node.store.on_status(
      {.state = SourceState::running, .unopened_gpus = 1, .since = node.clock.monotonic()});
  const auto at_once = find(evaluate(node.store.snapshot()), "gpu-unopened");
  ASSERT_TRUE(at_once);
  EXPECT_EQ(at_once->state, FindingState::suspect);
  node.clock.advance(Seconds(11));
  EXPECT_EQ(find(evaluate(node.store.snapshot()), "gpu-unopened")->state, FindingState::firing)
      << "the bus may never tell";
}

TEST(NodeStatus, WhatKeepsAllGpusFromBeingReadIsOneFindingAboutTheNode) {
  Node node;
  node.clock.advance(Seconds(60));
  const auto findings = node.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "gpus-silent");
  EXPECT_EQ(findings[0].entity.kind, EntityKind::node);
  EXPECT_EQ(findings[0].message, "None of 8 GPUs has brought a reading for 1 min 0 s");
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
  node.answer(7);
  // Whatever the period is: the others told something since.
  node.clock.advance(Milliseconds(200));
  const auto one = node.findings();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].rule, "gpu-silent");
  EXPECT_EQ(one[0].entity.id, store::gpu_info(7).uuid);
}

TEST(NodeStatus, AGpuThatIsForbiddenToUsIsAnErrorAndNotBroken) {
  Node node(7);
  node.store.on_status({.state = SourceState::running, .unopened_gpus = 1, .forbidden_gpus = 1});
  EXPECT_EQ(find(node.findings(), "gpu-unopened")->severity, Severity::error);
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
  node.store.on_status({.state = SourceState::running, .unopened_gpus = 2, .forbidden_gpus = 1});
  EXPECT_EQ(node.verdict().verdict, Verdict::critical);
}

TEST(NodeStatus, ANodeOfWhichNoGpuCanBeOpenedHasGpus) {
  Node node(0);
  node.store.on_status({.state = SourceState::running, .unopened_gpus = 2, .forbidden_gpus = 2});
  EXPECT_FALSE(find(node.findings(), "no-gpus"));
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
  EXPECT_EQ(node.verdict().reason, "2 of the driver's GPUs can't be opened; 0 of 2 GPUs answer");
}

TEST(NodeStatus, SeveralCriticalFindingsAreCountedInTheReason) {
  Node node;
  for (const unsigned n : {1U, 2U, 5U}) node.store.on_gpu_state(pci_of(n), GpuState::lost, "");
  EXPECT_EQ(node.verdict().reason,
            "GPU 1 (0000:11:00.0) is lost and 2 more critical; 5 of 8 GPUs answer");
}

TEST(NodeStatus, AHungGpuIsCriticalAndNamesTheCall) {
  Node node;
  node.store.on_gpu_state(pci_of(0), GpuState::hung,
                          "nvmlDeviceGetPowerUsage has not returned for 10 s");
  const auto finding = find(node.findings(), "gpu-hung");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->action, Action::reset_gpu);
  EXPECT_NE(finding->evidence.at(0).find("nvmlDeviceGetPowerUsage"), std::string::npos);
  EXPECT_EQ(node.verdict().verdict, Verdict::critical);
}

struct SourceCase {
  SourceState state;
  const char* rule;
  Verdict verdict;
};

TEST(NodeStatus, EverySourceStateHasItsRuleAndIsNeverOk) {
  const std::vector<SourceCase> cases = {
      {SourceState::starting, "source-starting", Verdict::unknown},
      {SourceState::released, "source-released", Verdict::unknown},
      {SourceState::library_missing, "driver-library-missing", Verdict::unknown},
      {SourceState::driver_missing, "driver-not-loaded", Verdict::critical},
      {SourceState::version_mismatch, "driver-version-mismatch", Verdict::critical},
      {SourceState::no_permission, "driver-no-permission", Verdict::unknown},
      {SourceState::driver_hung, "driver-hung", Verdict::critical},
      {SourceState::failed, "source-failed", Verdict::unknown}};
  for (const SourceCase& one : cases) {
    Node node;
    device::SourceStatus status = store::status_of(one.state);
    status.detail = "what the library said";
    node.store.on_status(status);
    const auto finding = find(node.findings(), one.rule);
    ASSERT_TRUE(finding) << one.rule;
    EXPECT_EQ(finding->evidence, std::vector<std::string>{"what the library said"});
    EXPECT_EQ(finding->entity, (Entity{EntityKind::node, "node1"}));
    EXPECT_EQ(node.verdict().verdict, one.verdict) << one.rule;
  }
}

TEST(NodeStatus, AStuckProbeIsAnErrorAndDegradesANodeThatElseAnswers) {
  Node node;
  device::SourceStatus status = store::status_of(SourceState::running);
  status.stuck_probes = 1;
  node.store.on_status(status);
  ASSERT_TRUE(find(node.findings(), "probe-stuck"));
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
}

TEST(NodeStatus, ADriverThatListsNoGpuIsNotHealthy) {
  const Node node(0);
  ASSERT_TRUE(find(node.findings(), "no-gpus"));
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
}

TEST(NodeStatus, AGpuOnWhichEveryCallFailsDoesNotAnswerWhateverFollowsFromMemory) {
  Node node;
  for (int second = 0; second < 12; ++second) {
    node.clock.advance(Seconds(1));
    node.answer(7);
    const MonotonicTime now = node.clock.monotonic();
    node.store.on_readings(pci_of(7),
                           {{{}, FieldId::temperature, Reading::none(Reason::failed, now)},
                            {{}, FieldId::last_xid, Reading::of(std::int64_t{0}, now)},
                            {{}, FieldId::energy, Reading::of(1.0, now)}});
  }
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
  EXPECT_EQ(node.verdict().reason, "GPU 7 (0000:17:00.0) has not been read; 7 of 8 GPUs answer");
  EXPECT_TRUE(find(node.findings(), "gpu-silent"));
}

TEST(NodeStatus, AGpuThatWasNotReadYetMakesTheVerdictUnknownBeforeItIsAFinding) {
  Node node;
  node.store.on_inventory(store::gpu_infos(9));
  EXPECT_TRUE(node.findings().empty());
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
  node.clock.advance(Seconds(11));
  node.answer(8);
  EXPECT_TRUE(find(node.findings(), "gpu-silent"));
}

TEST(NodeStatus, AGpuWhoseReadingsAllGrewStaleIsSilentAndTheVerdictUnknown) {
  Node node;
  node.clock.advance(Seconds(7));
  node.answer(7);
  const auto finding = find(node.findings(), "gpu-silent");
  ASSERT_TRUE(finding);
  EXPECT_NE(finding->message.find("GPU 7 (0000:17:00.0) has brought no reading for 7 s"),
            std::string::npos)
      << finding->message;
  EXPECT_EQ(node.verdict().verdict, Verdict::unknown);
}

TEST(NodeStatus, SomeStaleReadingsDegrade) {
  Node node;
  node.read(0, FieldId::utilization, 5);
  node.clock.advance(Seconds(7));
  node.answer(8);
  const auto finding = find(node.findings(), "readings-stale");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence.at(0), "stale: utilization");
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
}

TEST(NodeStatus, AReadingThatCantBeTrueDegradesAndOneThatNeedsRightsIsInformation) {
  Node node;
  const auto now = node.clock.monotonic();
  node.store.on_readings(
      pci_of(0),
      {store::gpu_reading(FieldId::utilization, Reading::none(Reason::no_permission, now))});
  EXPECT_TRUE(find(node.findings(), "readings-no-permission"));
  EXPECT_EQ(node.verdict().verdict, Verdict::ok);
  node.store.on_readings(
      pci_of(0), {store::gpu_reading(FieldId::utilization, Reading::none(Reason::invalid, now))});
  EXPECT_TRUE(find(node.findings(), "readings-failed"));
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
}

TEST(NodeStatus, WhatTheDriverAsksForOutranksOurTable) {
  Node node;
  node.read(2, FieldId::recovery_action, 2);
  const auto finding = find(node.findings(), "recovery-action");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->action, Action::reboot);
  EXPECT_EQ(finding->message, "The driver asks for GPU 2 (0000:12:00.0): reboot the node");
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
}

TEST(RecoveryAction, IsDecodedByDriverBranch) {
  EXPECT_EQ(recovery_of(1, "580.159.04").action, Action::reset_gpu);
  EXPECT_EQ(recovery_of(3, "580.159.04").action, Action::drain_p2p);
  EXPECT_EQ(recovery_of(4, "580.159.04").action, Action::reset_gpu);
  EXPECT_EQ(recovery_of(5, "595.45.04").action, Action::recover_imex_domain);
  EXPECT_EQ(recovery_of(5, "580.159.04").action, Action::contact_vendor);
  EXPECT_EQ(recovery_of(5, "").action, Action::recover_imex_domain);
  EXPECT_EQ(recovery_of(1, "550.54.15").action, Action::contact_vendor) << "no such field there";
}

TEST(RecoveryAction, AnUnknownValueIsShownRawAndGoesToTheVendor) {
  Node node;
  node.read(0, FieldId::recovery_action, 17);
  const auto finding = find(node.findings(), "recovery-action");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->action, Action::contact_vendor);
  EXPECT_NE(finding->message.find("17"), std::string::npos);
  EXPECT_EQ(finding->evidence.at(0), "recovery_action = 17 with driver 580.159.04");
}

TEST(NodeStatus, AnXidIsNewsForAnHour) {
  Node node;
  node.store.on_xid(pci_of(1), 94, node.clock.monotonic());
  const auto finding = find(node.findings(), "xid-seen");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_EQ(finding->action, Action::observe);
  EXPECT_NE(finding->message.find("Xid 94 (Contained memory error)"), std::string::npos);
  node.clock.advance(Seconds(3601));
  node.answer(8);
  EXPECT_FALSE(find(node.findings(), "xid-seen"));
}

TEST(NodeStatus, AHarmlessXidAfterASeriousOneHidesNothing) {
  Node node;
  node.store.on_xid(pci_of(1), 94, node.clock.monotonic());
  node.clock.advance(Seconds(1));
  node.store.on_xid(pci_of(1), 45, node.clock.monotonic());
  node.answer(8);
  const auto finding = find(node.findings(), "xid-seen");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->message.find("Xid 94 "), std::string::npos) << finding->message;
  EXPECT_NE(finding->evidence.at(0).find("Xid 45 x 1"), std::string::npos);
  EXPECT_EQ(node.verdict().verdict, Verdict::degraded);
}

TEST(NodeStatus, TheXidThatCausedARecoveryActionIsNamedAndNotItsAnnouncement) {
  Node node;
  for (const std::uint32_t xid : {63U, 154U, 31U}) {
    node.store.on_xid(pci_of(1), xid, node.clock.monotonic());
    node.clock.advance(Seconds(1));
  }
  node.answer(8);
  const auto finding = find(node.findings(), "xid-seen");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->message.find("Xid 63 "), std::string::npos) << finding->message;
}

TEST(NodeStatus, OfTwoSeriousXidsTheLaterOneIsNamedAndAnOldOneNoMore) {
  Node node;
  node.store.on_xid(pci_of(1), 94, node.clock.monotonic());
  node.clock.advance(Seconds(3000));
  node.store.on_xid(pci_of(1), 63, node.clock.monotonic());
  node.answer(8);
  EXPECT_NE(find(node.findings(), "xid-seen")->message.find("Xid 63 "), std::string::npos);
  node.clock.advance(Seconds(3601));
  node.store.on_xid(pci_of(1), 31, node.clock.monotonic());
  node.answer(8);
  EXPECT_EQ(find(node.findings(), "xid-seen")->severity, Severity::info);
}

TEST(NodeStatus, AnXidOfAProgramIsInformationAndTheNodeStaysOk) {
  Node node;
  node.store.on_xid(pci_of(1), 31, node.clock.monotonic());
  EXPECT_EQ(find(node.findings(), "xid-seen")->severity, Severity::info);
  EXPECT_EQ(node.verdict().verdict, Verdict::ok);
}

TEST(NodeStatus, TheWorstFindingComesFirst) {
  Node node;
  node.store.on_xid(pci_of(1), 31, node.clock.monotonic());
  node.read(2, FieldId::recovery_action, 1);
  node.store.on_gpu_state(pci_of(0), GpuState::lost, "");
  const auto findings = node.findings();
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                             [](const auto& a, const auto& b) { return a.severity > b.severity; }));
}

TEST(NodeStatus, SinceIsWhenItHappenedOnTheWallClock) {
  Node node;
  const WallTime lost_at = node.clock.wall();
  node.store.on_gpu_state(pci_of(0), GpuState::lost, "");
  node.clock.advance(Seconds(60));
  EXPECT_EQ(find(node.findings(), "gpu-lost")->since, lost_at);
}

TEST(Rules, EveryRuleSaysWhyWhatToDoAndOnWhoseWord) {
  std::set<std::string_view> names;
  for (const Rule& row : all_rules()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.cause.empty()) << row.name;
    // The driver's own wish carries its fix with its value (recovery.cpp).
    EXPECT_EQ(row.fix.empty(), row.id == RuleId::recovery_action) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_EQ(&rule(row.id), &row);
  }
}

RC_GTEST_PROP(NodeStatusProperty, AnythingButAllGpusAnsweringIsNeverOk, ()) {
  Node node(4);
  const auto state = SourceState(*rc::gen::inRange(0, 9));
  node.store.on_status(store::status_of(state));
  const auto victim = *rc::gen::inRange(0U, 4U);
  const auto gpu = GpuState(*rc::gen::inRange(0, 3));
  node.store.on_gpu_state(pci_of(victim), gpu, "");
  node.clock.advance(Milliseconds(*rc::gen::inRange(0, 10'000)));
  const store::Snapshot snapshot = node.store.snapshot();
  const bool all_answer =
      std::all_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                  [](const auto& one) { return one.readings.get(FieldId::temperature).ok(); });
  const NodeVerdict verdict = node.verdict();
  RC_ASSERT((verdict.verdict == Verdict::ok) == (state == SourceState::running && all_answer));
  RC_ASSERT(!verdict.reason.empty());
  RC_ASSERT(verdict.reason.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace stoker::health
