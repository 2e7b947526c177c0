#include "health/expected.h"

#include <gtest/gtest.h>

#include <functional>

#include "health/node_status.h"
#include "store/store_test_support.h"

namespace stoker::health {
namespace {

using device::GpuState;
using store::Snapshot;

// Two H100 with two NVLinks each, and two NICs.
Snapshot node() {
  Snapshot snapshot;
  snapshot.hostname = "node1";
  snapshot.source.state = device::SourceState::running;
  snapshot.driver = device::DriverInfo{.driver_version = "580.159.04"};
  for (unsigned n = 0; n < 2; ++n) {
    store::GpuSnapshot gpu;
    gpu.info = store::gpu_info(n);
    gpu.info.max_pcie_generation = 5;
    gpu.info.nvlinks = {{.link = 0}, {.link = 1}};
    gpu.readings.set(FieldId::nvlink_links_up, Reading::of(std::int64_t{2}, {}));
    gpu.readings.set(FieldId::pcie_width, Reading::of(std::int64_t{16}, {}));
    snapshot.gpus.push_back(gpu);
  }
  NodeDevices devices;
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    devices.nics.push_back({.name = name, .port_state = "ACTIVE"});
  }
  snapshot.devices = std::make_shared<const NodeDevices>(devices);
  return snapshot;
}

Expected everything() {
  return {.gpus = 2,
          .products = {"NVIDIA H100 80GB HBM3"},
          .driver = "580.159.04",
          .nics = {"mlx5_0", "mlx5_1"},
          .nvlinks = 2,
          .pcie_generation = 5,
          .pcie_width = 16};
}

void change_nics(Snapshot& snapshot, const std::function<void(NodeDevices&)>& change) {
  NodeDevices devices = *snapshot.devices;
  change(devices);
  snapshot.devices = std::make_shared<const NodeDevices>(devices);
}

// "expected-gpus: expected 2, 1 answer; GPU 1 (...) is lost"
std::vector<std::string> said(const Snapshot& snapshot, const Expected& expected = everything()) {
  std::vector<std::string> all;
  for (const Finding& finding : expected_findings(snapshot, expected)) {
    std::string line = finding.rule + ":";
    for (const std::string& detail : finding.evidence) line += " " + detail + ";";
    all.push_back(line);
  }
  return all;
}
using Said = std::vector<std::string>;

TEST(Expected, WhatIsThereAsExpectedSaysNothing) {
  EXPECT_EQ(said(node()), Said{});
  EXPECT_EQ(said(node(), {}), Said{}) << "and so does a node of which nothing is expected";
  for (const Comparison& made : compare(node(), everything())) {
    EXPECT_EQ(made.match, Match::met) << made.key;
    EXPECT_EQ(made.seen, made.expected) << made.key;
  }
}

TEST(Expected, WhatIsSeenIsWhatWouldBeExpected) {
  for (const Comparison& made : compare(node(), {})) {
    EXPECT_EQ(made.match, Match::not_expected) << made.key;
    EXPECT_TRUE(made.seen) << made.key;
  }
}

TEST(Expected, EveryDifferenceIsAFindingWithWhatIsThere) {
  Snapshot snapshot = node();
  snapshot.driver->driver_version = "570.1";
  snapshot.gpus[1].info.name = "NVIDIA H200";
  snapshot.gpus[1].info.max_pcie_generation = 4;
  snapshot.gpus[0].readings.set(FieldId::pcie_width, Reading::of(std::int64_t{8}, {}));
  snapshot.gpus[1].readings.set(FieldId::nvlink_links_up, Reading::of(std::int64_t{1}, {}));
  change_nics(snapshot, [](NodeDevices& devices) {
    devices.nics[0].port_state = "DOWN";
    devices.nics.pop_back();
  });
  Expected expected = everything();
  expected.gpus = 3;
  EXPECT_EQ(
      said(snapshot, expected),
      (Said{"expected-gpus: expected 3, 2 answer;",
            "expected-product: GPU 1 (0000:11:00.0): NVIDIA H200;",
            "expected-driver: the driver is 570.1;",
            "expected-nics: mlx5_0: its port is DOWN; mlx5_1: is not there;",
            "expected-nvlinks: GPU 1 (0000:11:00.0): 1;", "expected-pcie: GPU 1 (0000:11:00.0): 4;",
            "expected-pcie: GPU 0 (0000:10:00.0): 8;"}));
}

TEST(Expected, ACardThatIsLostIsMissingAndWhatItHasIsNotKnown) {
  Snapshot snapshot = node();
  snapshot.gpus[1].state = GpuState::lost;
  const auto all = said(snapshot);
  ASSERT_EQ(all.size(), 1U) << "what its product, links and lanes are goes without saying";
  EXPECT_EQ(all[0], "expected-gpus: expected 2, 1 answer; GPU 1 (0000:11:00.0) is lost;");
  for (const Comparison& made : compare(snapshot, {})) {
    const bool of_cards = made.key != "expect.driver" && made.key != "expect.nics";
    EXPECT_EQ(made.seen.has_value(), !of_cards) << made.key;
  }
  for (const Comparison& made : compare(snapshot, everything())) {
    EXPECT_EQ(made.match == Match::met, made.seen.has_value()) << made.key;
  }
}

TEST(Expected, ACardWhoseLossIsToldAsItsOwnIsNoFaultOfTheNodeToo) {
  Snapshot snapshot = node();
  snapshot.gpus[1].state = device::GpuState::lost;
  const auto one = expected_findings(snapshot, {.gpus = 2});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].rule, "expected-gpus");
  EXPECT_EQ(one[0].severity, Severity::info);
  const auto more = expected_findings(snapshot, {.gpus = 3});
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].severity, Severity::error) << "of the third nobody else tells";
}

TEST(Expected, WhatCanNotBeReadIsNotMet) {
  Snapshot snapshot = node();
  change_nics(snapshot, [](NodeDevices& devices) { devices.nics_problem = "denied"; });
  snapshot.gpus[0].readings.set(FieldId::nvlink_links_up, Reading::none(Reason::stale, {}));
  EXPECT_EQ(said(snapshot),
            (Said{"expected-nics: denied;", "expected-nvlinks: GPU 0 (0000:10:00.0): stale;"}));
}

TEST(Expected, WhatIsNotReadYetIsNoFindingAndNotMet) {
  Snapshot snapshot = node();
  snapshot.devices.reset();
  snapshot.gpus[0].readings.set(FieldId::pcie_width, Reading::none(Reason::pending, {}));
  EXPECT_EQ(said(snapshot), Said{});
  for (const Comparison& made : compare(snapshot, everything())) {
    const bool early = made.key == "expect.nics" || made.key == "expect.pcie_width";
    EXPECT_EQ(made.match, early ? Match::unknown : Match::met) << made.key;
  }
}

TEST(Expected, ADriverThatIsNotReadHasFindingsOfItsOwn) {
  Snapshot snapshot = node();
  snapshot.source.state = device::SourceState::driver_hung;
  EXPECT_EQ(said(snapshot), Said{});
  for (const Comparison& made : compare(snapshot, everything())) {
    if (made.key == "expect.nics") continue;
    EXPECT_EQ(made.match, Match::unknown) << made.key;
    EXPECT_FALSE(made.seen) << made.key;
  }
}

TEST(Expected, CardsThatDifferAreMixedAndProductsAreAList) {
  Snapshot snapshot = node();
  snapshot.gpus[1].info.name = "NVIDIA H200";
  snapshot.gpus[1].readings.set(FieldId::pcie_width, Reading::of(std::int64_t{8}, {}));
  for (const Comparison& made : compare(snapshot, {})) {
    EXPECT_EQ(made.mixed, made.key == "expect.pcie_width") << made.key;
    if (made.key != "expect.product") continue;
    EXPECT_EQ(made.seen, "NVIDIA H100 80GB HBM3,NVIDIA H200");
  }
}

TEST(Expected, ADifferenceDegradesTheNodesVerdict) {
  Snapshot snapshot = node();
  for (auto& gpu : snapshot.gpus) {
    gpu.last_answer = snapshot.taken_at;
    gpu.readings.set(FieldId::power, Reading::of(76.0, snapshot.taken_at));
  }
  EXPECT_EQ(judge(snapshot, evaluate(snapshot, everything())).verdict, Verdict::ok);
  Expected more = everything();
  more.gpus = 3;
  const auto judged = judge(snapshot, evaluate(snapshot, more));
  EXPECT_EQ(judged.verdict, Verdict::degraded);
  EXPECT_EQ(judged.reason, "expect.gpus is 3, and this node differs; 2 of 2 GPUs answer");
}

}  // namespace
}  // namespace stoker::health
