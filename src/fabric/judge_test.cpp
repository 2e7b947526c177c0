#include "fabric/judge.h"

#include <gtest/gtest.h>

#include "fabric/fabric_test_support.h"

namespace stoker::fabric {
namespace {

// "rule severity entity", one a finding.
std::vector<std::string> lines(const Judged& judged) {
  std::vector<std::string> all;
  for (const Told& told : judged.told) {
    all.push_back(fmt::format("{} {} {}", told.finding.rule, to_string(told.finding.severity),
                              told.finding.entity.id));
  }
  return all;
}
using Lines = std::vector<std::string>;

FabricBuilder after(FabricBuilder fabric) { return fabric.later(Seconds(300)); }

bool has(const Finding& finding, std::string_view text) {
  for (const std::string& line : finding.evidence) {
    if (line.find(text) != std::string::npos) return true;
  }
  return finding.message.find(text) != std::string::npos ||
         finding.cause.find(text) != std::string::npos;
}

TEST(Judge, ACleanFabricIsSilent) {
  const auto before = two_leaves();
  const auto now = after(two_leaves());
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)), Lines{});
  const Judged judged = judge(now.sweep(), &before.sweep(), &before.sweep());
  EXPECT_EQ(lines(judged), Lines{});
  EXPECT_EQ(judged.cables, 12U);
  EXPECT_EQ(judged.ports, 32U);
  EXPECT_EQ(judged.unlinked, 8U);
  EXPECT_EQ(judged.unread, 0U);
}

TEST(Judge, OneBadCableIsOneFindingHoweverManyCountersAndEndsTell) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.count({leaf1, 4}, CounterId::symbol_error, 5'000)
      .count({leaf1, 4}, CounterId::port_rcv_errors, 40);
  now.count({first_host + 3, 1}, CounterId::symbol_error, 300);
  const Judged judged = judge(now.sweep(), &before.sweep(), nullptr);
  ASSERT_EQ(lines(judged), Lines{"fabric-cable-bad error S-leaf1 port 4 <-> H-gpu04 port 1"});
  const Finding& finding = judged.told[0].finding;
  EXPECT_TRUE(has(finding, "5000 symbol errors at S-leaf1 port 4"));
  EXPECT_TRUE(has(finding, "300 symbol errors at H-gpu04 port 1"));
  EXPECT_TRUE(has(finding, "Both ends receive broken signals"));
  EXPECT_TRUE(has(finding, "0x0000000000200001/4 <-> 0x0000000000100004/1"));
}

TEST(Judge, WhoCountsBrokenSignalsIsNotWhoSendsThem) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.count({leaf1, 4}, CounterId::symbol_error, 5'000);
  const Judged judged = judge(now.sweep(), &before.sweep(), nullptr);
  ASSERT_EQ(judged.told.size(), 1U);
  EXPECT_TRUE(
      has(judged.told[0].finding, "What H-gpu04 port 1 sends arrives broken at S-leaf1 port 4"));
}

TEST(Judge, SymbolErrorsThatAreRarerThanIbtaAllowsAreNoFault) {
  const auto before = two_leaves();
  // 212.5 Gb/s for a day are 1.8e16 bits: 10^-12 of them are 18,360.
  auto now = two_leaves().later(Seconds(86'400));
  now.count({leaf1, 4}, CounterId::symbol_error, 18'000);
  EXPECT_EQ(lines(judge(now.sweep(), &before.sweep(), nullptr)), Lines{});
  now.count({leaf1, 4}, CounterId::symbol_error, 19'000);
  EXPECT_EQ(judge(now.sweep(), &before.sweep(), nullptr).told.size(), 1U);
}

TEST(Judge, PacketsThatWereBrokenBeforeAccuseNoCableHere) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.count({leaf1, 4}, CounterId::port_rcv_remote_physical_errors, 9'000);
  now.count({leaf1, 4}, CounterId::port_xmit_discards, 9'000);
  EXPECT_EQ(lines(judge(now.sweep(), &before.sweep(), nullptr)), Lines{});
}

TEST(Judge, AFlappingLinkIsToldOnceWithItsBadSignals) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.count({leaf1, 2}, CounterId::link_downed, 3).count({leaf1, 2}, CounterId::symbol_error, 900);
  const Judged judged = judge(now.sweep(), &before.sweep(), nullptr);
  ASSERT_EQ(lines(judged), Lines{"fabric-cable-flapping error S-leaf1 port 2 <-> H-gpu02 port 1"});
  EXPECT_TRUE(has(judged.told[0].finding, "3 times down at S-leaf1 port 2 in 5 min"));
  EXPECT_TRUE(has(judged.told[0].finding, "also bad: 900 symbol errors"));
}

TEST(Judge, OneLossOfALinkIsAWarningForARestartDoesItToo) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.count({leaf1, 2}, CounterId::link_downed, 1);
  EXPECT_EQ(lines(judge(now.sweep(), &before.sweep(), nullptr)),
            Lines{"fabric-cable-flapping warning S-leaf1 port 2 <-> H-gpu02 port 1"});
}

TEST(Judge, ASwitchThatRestartedIsOneFinding) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  for (unsigned n = 1; n <= 4; ++n)
    now.count({n < 3 ? leaf1 : leaf2, n % 2 + 7}, CounterId::link_downed, 1);
  EXPECT_EQ(lines(judge(now.sweep(), &before.sweep(), nullptr)),
            Lines{"fabric-node-restarted warning S-spine"});
}

TEST(Judge, WhatWasCountedAtAnUnknownTimeIsOnlyTold) {
  auto now = two_leaves();
  now.count({leaf1, 2}, CounterId::symbol_error, 65'535)
      .count({leaf1, 3}, CounterId::symbol_error, 3);
  const Judged judged = judge(now.sweep(), nullptr, nullptr);
  ASSERT_EQ(lines(judged), Lines{"fabric-cable-counted info S-leaf1 port 2 <-> H-gpu02 port 1"});
  EXPECT_TRUE(has(judged.told[0].finding, "at least 65535 symbol errors"));
  EXPECT_TRUE(has(judged.told[0].finding, "since when is not known"));
}

TEST(Judge, OldErrorsThatDoNotGrowAreSilent) {
  auto before = two_leaves();
  before.count({leaf1, 2}, CounterId::symbol_error, 40'000);
  EXPECT_EQ(lines(judge(after(before).sweep(), &before.sweep(), nullptr)), Lines{});
}

TEST(Judge, AFullCounterIsNotHealth) {
  auto before = two_leaves();
  before.count({leaf1, 2}, CounterId::symbol_error, 65'535);
  EXPECT_EQ(lines(judge(after(before).sweep(), &before.sweep(), nullptr)),
            Lines{"fabric-counter-full warning S-leaf1 port 2 <-> H-gpu02 port 1"});
}

TEST(Judge, ACounterThatWasClearedTellsWhatCameSince) {
  auto before = two_leaves();
  before.count({leaf1, 2}, CounterId::port_rcv_errors, 5'000);
  auto now = after(two_leaves());
  now.count({leaf1, 2}, CounterId::port_rcv_errors, 50);
  const Judged judged = judge(now.sweep(), &before.sweep(), nullptr);
  ASSERT_EQ(judged.told.size(), 1U);
  EXPECT_TRUE(has(judged.told[0].finding, "at least 50 broken packets"));
  EXPECT_TRUE(has(judged.told[0].finding, "port_rcv_errors began anew"));
}

TEST(Judge, ALinkBelowWhatBothEndsHaveEnabledIsSlow) {
  auto now = two_leaves();
  for (const PortName end : {PortName{leaf1, 3}, PortName{first_host + 2, 1}})
    now.port(end).rate.speed = Speed::edr;
  for (const PortName end : {PortName{leaf1, 4}, PortName{first_host + 3, 1}})
    now.port(end).rate.lanes = 1;
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)),
            (Lines{"fabric-link-narrow warning S-leaf1 port 4 <-> H-gpu04 port 1",
                   "fabric-link-slow warning S-leaf1 port 3 <-> H-gpu03 port 1"}));
  const auto expected = two_leaves();
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &expected.sweep()))[0],
            "fabric-link-narrow error S-leaf1 port 4 <-> H-gpu04 port 1");
}

TEST(Judge, ALinkThatMayNotBeFasterIsAMatterOfConfiguration) {
  auto now = two_leaves();
  for (const PortName end : {PortName{leaf1, 3}, PortName{first_host + 2, 1}})
    now.port(end).rate.speed = Speed::edr;
  now.port({leaf1, 3}).speeds_enabled = 0x1f;
  const Judged judged = judge(now.sweep(), nullptr, nullptr);
  ASSERT_EQ(judged.told.size(), 1U);
  EXPECT_EQ(judged.told[0].finding.action, Action::fix_config);
  EXPECT_TRUE(has(judged.told[0].finding, "not enabled at S-leaf1 port 3"));
}

TEST(Judge, TwoEndsOfDifferentGenerationsMeetAtTheLesserAndThatIsWell) {
  auto now = two_leaves();
  Port& host = now.port({first_host, 1});
  host.speeds_enabled = host.speeds_supported = 0x1f;
  host.rate.speed = now.port({leaf1, 1}).rate.speed = Speed::edr;
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)), Lines{});
}

TEST(Judge, AnUnpluggedCableNamesTheEndThatItHad) {
  const auto before = two_leaves();
  auto now = after(two_leaves());
  now.unplug({leaf1, 4});
  EXPECT_EQ(lines(judge(now.sweep(), &before.sweep(), nullptr)),
            Lines{"fabric-cable-down error S-leaf1 port 4 <-> H-gpu04 port 1"});
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)), Lines{});  // an unused port is no fault
}

TEST(Judge, AHostThatIsGoneIsItsOneCable) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.lose(first_host + 3);
  const Judged judged = judge(now.sweep(), nullptr, &saved.sweep());
  ASSERT_EQ(lines(judged), Lines{"fabric-cable-down error S-leaf1 port 4 <-> H-gpu04 port 1"});
  EXPECT_TRUE(has(judged.told[0].finding, "H-gpu04 port 1: not seen by this sweep"));
}

TEST(Judge, ASwitchThatIsGoneIsOneFindingAndItsHostsBehindItAreNone) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.lose(leaf2);
  for (unsigned n = 4; n < 8; ++n) now.lose(first_host + n);
  const Judged judged = judge(now.sweep(), nullptr, &saved.sweep());
  ASSERT_EQ(lines(judged), Lines{"fabric-node-missing critical S-leaf2"});
  EXPECT_EQ(judged.told[0].cables.size(), 2U);
}

TEST(Judge, AllAdaptersOfAHostAreOneHost) {
  auto saved = two_leaves();
  saved.host(0x900001, "node7 mlx5_0").host(0x900002, "node7 mlx5_1");
  saved.cable({leaf1, 5}, {0x900001, 1}).cable({leaf2, 5}, {0x900002, 1});
  auto now = after(saved);
  now.lose(0x900001).lose(0x900002);
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &saved.sweep())),
            Lines{"fabric-node-missing critical node7"});
}

TEST(Judge, SwappedCablesAreFoundAtBoth) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.unplug({leaf1, 1}).unplug({leaf1, 2});
  now.cable({leaf1, 1}, {first_host + 1, 1}).cable({leaf1, 2}, {first_host, 1});
  const Judged judged = judge(now.sweep(), nullptr, &saved.sweep());
  ASSERT_EQ(lines(judged),
            (Lines{"fabric-cable-wrong-port error S-leaf1 port 1 <-> H-gpu02 port 1",
                   "fabric-cable-wrong-port error S-leaf1 port 2 <-> H-gpu01 port 1"}));
  EXPECT_TRUE(has(judged.told[0].finding,
                  "S-leaf1 port 1: to H-gpu02 port 1; in the saved fabric: to H-gpu01 port 1"));
}

TEST(Judge, ACableInAnotherPortIsOneFinding) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.unplug({leaf1, 1}).cable({leaf1, 6}, {first_host, 1});
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &saved.sweep())),
            Lines{"fabric-cable-wrong-port error S-leaf1 port 6 <-> H-gpu01 port 1"});
}

TEST(Judge, ACardThatWasReplacedIsNoWrongCable) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.lose(first_host).host(0x123, "H-gpu01").cable({leaf1, 1}, {0x123, 1});
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &saved.sweep())),
            Lines{"fabric-node-replaced info H-gpu01"});
}

TEST(Judge, ANewCableIsOnlyTold) {
  const auto saved = two_leaves();
  auto now = after(two_leaves());
  now.host(0x123, "H-new").cable({leaf1, 5}, {0x123, 1});
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &saved.sweep())),
            Lines{"fabric-cable-new info S-leaf1 port 5 <-> H-new port 1"});
}

TEST(Judge, WhatWasNotReadIsNeverWell) {
  auto now = two_leaves();
  now.port({leaf1, 2}).counters_unread = "timeout";
  Judged judged = judge(now.sweep(), nullptr, nullptr);
  EXPECT_EQ(lines(judged),
            Lines{"fabric-cable-not-read warning S-leaf1 port 2 <-> H-gpu02 port 1"});
  EXPECT_EQ(judged.unread, 1U);
  for (unsigned n : {1U, 2U, 3U, 4U}) now.port({spine, n}).counters_unread = "timeout";
  judged = judge(now.sweep(), nullptr, nullptr);
  EXPECT_EQ(lines(judged),
            (Lines{"fabric-node-not-read warning S-spine",
                   "fabric-cable-not-read warning S-leaf1 port 2 <-> H-gpu02 port 1"}));
}

TEST(Judge, ALinkWhoseOtherEndDoesNotAnswerIsNotRead) {
  auto now = two_leaves();
  now.lose(first_host + 3);
  now.port({leaf1, 4}).physical = PhysicalState::link_up;
  now.port({leaf1, 4}).state = LinkState::active;
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)),
            Lines{"fabric-cable-not-read warning S-leaf1 port 4 <-> an end that does not answer"});
  const auto saved = two_leaves();
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, &saved.sweep())),
            Lines{"fabric-cable-not-read warning S-leaf1 port 4 <-> H-gpu04 port 1"});
}

TEST(Judge, WithoutASubnetManagerThereIsOneFinding) {
  auto now = two_leaves();
  for (const Cable& cable : cables_of(now.sweep())) {
    for (const PortName end : {cable.one, cable.other}) {
      now.port(end).state = LinkState::initialize;
      now.port(end).counters_unread = "it has no LID";
    }
  }
  EXPECT_EQ(lines(judge(now.sweep(), nullptr, nullptr)),
            Lines{"fabric-no-subnet-manager critical mlx5_0 port 1"});
}

}  // namespace
}  // namespace stoker::fabric
