// The checks about RDMA ports: looks a quarter of a minute apart, an evaluation a second.
#include "health/port_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "health/check_engine.h"
#include "health/check_reader.h"
#include "health/checks.h"
#include "health/node_status.h"

namespace stoker::health {
namespace {

// Eight ports that work.
RdmaPorts eight_ports() {
  RdmaPorts ports;
  for (unsigned n = 0; n < 8; ++n) {
    ports.ports.push_back(
        {.device = fmt::format("mlx5_{}", n),
         .pci = PciAddress{.domain = 0, .bus = static_cast<std::uint8_t>(0x20 + n)},
         .model = "MT4129",
         .link_layer = "InfiniBand",
         .state = "ACTIVE",
         .physical = "LinkUp",
         .rate = "400 Gb/sec (4X NDR)",
         .counters = {{"symbol_error", 0}, {"link_downed", 0}, {"out_of_sequence", 0}}});
  }
  return ports;
}

void unplug(RdmaPort& port) {
  port.state = "DOWN";
  port.physical = "Polling";
}

class PortNode {
 public:
  explicit PortNode(std::vector<Check> checks = built_in_checks()) : engine_(std::move(checks)) {
    snapshot_.hostname = "node1";
    snapshot_.source.state = device::SourceState::running;
    snapshot_.taken_at = {Seconds(1000)};
    snapshot_.wall = {Seconds(1'700'000'000)};
  }

  // For so many seconds; all that is told at the end. A look each 15 s, unless the looks hang.
  std::string pass(int seconds, int step = 1) {
    for (int second = 0; second < seconds; second += step, seconds_ += step) {
      snapshot_.taken_at = snapshot_.taken_at + Seconds(step);
      snapshot_.wall = {snapshot_.wall.since_epoch + Seconds(step)};
      if (seconds_ % 15 == 0 && !hangs) look();
      found = engine_.evaluate(snapshot_);
    }
    std::string out;
    for (const Finding& one : found) {
      out += fmt::format("{}{} {} {}{}", out.empty() ? "" : "; ", one.entity.id, one.rule,
                         to_string(one.severity),
                         one.state == FindingState::suspect ? " suspect" : "");
    }
    return out;
  }
  void hang() {
    hangs = true;
    snapshot_.ports = std::make_shared<const RdmaPorts>(
        RdmaPorts{.at = snapshot_.taken_at, .problem = "the next look hangs at mlx5_3"});
  }
  const store::Snapshot& snapshot() const { return snapshot_; }
  CheckEngine& engine() { return engine_; }

  RdmaPorts now = eight_ports();
  bool hangs = false;
  std::vector<Finding> found;

 private:
  void look() {
    now.at = snapshot_.taken_at;
    snapshot_.ports = std::make_shared<const RdmaPorts>(now);
  }

  CheckEngine engine_;
  store::Snapshot snapshot_;
  int seconds_ = 0;
};

TEST(PortChecks, WhereAllIsWellNothingIsSaid) {
  PortNode node;
  EXPECT_EQ(node.pass(600), "");
}

TEST(PortChecks, WhatCameBetweenTheFirstLookAndTheFirstJudgementIsTold) {
  PortChecks ports;
  ports.set_checks(port_checks());
  store::Snapshot snapshot;
  snapshot.taken_at = {Seconds(1000)};
  auto look = eight_ports();
  const auto pass = [&](int seconds) {
    snapshot.taken_at.since_boot += Seconds(seconds);
    look.at = snapshot.taken_at;
    snapshot.ports = std::make_shared<const RdmaPorts>(look);
  };
  pass(0);
  ports.watch(snapshot);
  look.ports[1].counters["symbol_error"] += 5000;
  pass(15);
  ports.watch(snapshot);
  pass(15);
  const auto found = ports.evaluate(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "port-errors");
}

TEST(PortChecks, CountsOnAboutADeviceThatDidNotAnswerForAWhile) {
  PortChecks ports;
  ports.set_checks(port_checks());
  store::Snapshot snapshot;
  snapshot.taken_at = {Seconds(1000)};
  auto look = eight_ports();
  const auto pass = [&](const RdmaPorts& seen) {
    snapshot.taken_at.since_boot += Seconds(15);
    auto now = seen;
    now.at = snapshot.taken_at;
    snapshot.ports = std::make_shared<const RdmaPorts>(std::move(now));
    return ports.evaluate(snapshot);
  };
  pass(look);
  look.ports[1].counters["symbol_error"] += 5000;
  EXPECT_EQ(pass(look).size(), 1U);
  auto silent = look;
  silent.ports.erase(silent.ports.begin() + 1);
  silent.unread = {look.ports[1].device + ": its driver has not answered for 45 s"};
  EXPECT_EQ(pass(silent).size(), 1U) << "nothing ends";
  EXPECT_EQ(pass(look).size(), 1U) << "what came is not forgotten";
}

TEST(PortChecks, APortThatHadALinkAndHasNoneIsDownAfterAMinuteAndNotForAMomentsLoss) {
  PortNode node;
  node.pass(60);
  unplug(node.now.ports[3]);
  EXPECT_EQ(node.pass(30), "mlx5_3/1 port-down warning suspect");
  node.now = eight_ports();
  EXPECT_EQ(node.pass(120), "");
  unplug(node.now.ports[3]);
  EXPECT_EQ(node.pass(90), "mlx5_3/1 port-down warning");
  EXPECT_EQ(node.found[0].message, "mlx5_3 port 1 is down (Polling)");
  node.now = eight_ports();
  EXPECT_EQ(node.pass(30), "mlx5_3/1 port-down warning") << "not at the first look that is fine";
  EXPECT_EQ(node.pass(90), "");
}

TEST(PortChecks, PortsThatNeverHadALinkMayBeMeantSoUnlessOneAloneOfManyLooksForAPartner) {
  PortNode node;
  unplug(node.now.ports[3]);
  EXPECT_EQ(node.pass(90), "mlx5_3/1 port-down warning");
  PortNode spare;
  unplug(spare.now.ports[3]);
  unplug(spare.now.ports[4]);
  EXPECT_EQ(spare.pass(90), "mlx5_3/1 port-down info; mlx5_4/1 port-down info");
  PortNode disabled;
  unplug(disabled.now.ports[3]);
  disabled.now.ports[3].physical = "Disabled";
  EXPECT_EQ(disabled.pass(90), "mlx5_3/1 port-down info");
}

TEST(PortChecks, APortThatRanFasterIsSlowAndOfThoseThatNeverDidOnlyTheOneOfMany) {
  const std::string half = "200 Gb/sec (2X NDR)";
  PortNode node;
  node.pass(60);
  node.now.ports[1].rate = node.now.ports[2].rate = half;
  EXPECT_EQ(node.pass(90), "mlx5_1/1 port-slow warning; mlx5_2/1 port-slow warning");
  node.now = eight_ports();
  EXPECT_EQ(node.pass(120), "");
  PortNode storage;
  storage.now.ports[1].rate = storage.now.ports[2].rate = half;
  EXPECT_EQ(storage.pass(90), "mlx5_1/1 port-slow info; mlx5_2/1 port-slow info");
  PortNode odd;
  odd.now.ports[1].rate = half;
  EXPECT_EQ(odd.pass(90), "mlx5_1/1 port-slow warning");
  odd.now.ports[2].rate = half;
  EXPECT_EQ(odd.pass(90), "mlx5_1/1 port-slow warning; mlx5_2/1 port-slow warning")
      << "that another one falls too makes the first no less odd";
  PortNode board;
  for (unsigned n = 0; n < 4; ++n) board.now.ports[n].board = "another";
  board.now.ports[1].rate = board.now.ports[2].rate = board.now.ports[3].rate = half;
  EXPECT_EQ(board.pass(90), "") << "most of its own kind run at 200";
}

TEST(PortChecks, WhatSomebodySetIsInformation) {
  PortNode node;
  for (RdmaPort& port : node.now.ports) {
    port.link_layer = "Ethernet";
    port.mtu = 9000;
  }
  node.now.ports[1].mtu = 1500;
  EXPECT_EQ(node.pass(660), "mlx5_1/1 port-mtu-differs info");
}

TEST(PortChecks, WhatIsCountedIsAddedUpWithinItsWindowAndThenOver) {
  PortNode node;
  node.pass(60);
  for (int look = 0; look < 4; ++look) {
    node.now.ports[2].counters["symbol_error"] += 3;
    node.pass(15);
  }
  EXPECT_EQ(node.pass(1), "mlx5_2/1 port-errors warning") << "3 at each of four looks are 12";
  EXPECT_EQ(node.found[0].evidence[0], "12 symbol errors (symbol_error)");
  EXPECT_EQ(node.pass(420), "") << "five minutes, and one more";
}

TEST(PortChecks, ACounterThatIsClearedLosesNothingOfWhatCameBefore) {
  PortNode node;
  node.now.ports[2].counters["symbol_error"] = 100;
  node.pass(60);
  node.now.ports[2].counters["symbol_error"] = 107;
  node.pass(15);
  node.now.ports[2].counters["symbol_error"] = 5;  // perfquery -R
  node.pass(16);
  ASSERT_EQ(node.found.size(), 1U);
  EXPECT_EQ(node.found[0].evidence[0], "at least 12 symbol errors (symbol_error)");
}

TEST(PortChecks, ACounterThatStandsAtItsHighestValueIsSaidOnceTheErrorsAreOver) {
  PortNode node;
  node.now.ports[2].counters["symbol_error"] = 65'500;
  node.pass(60);
  node.now.ports[2].counters["symbol_error"] = 65'535;
  EXPECT_EQ(node.pass(60), "mlx5_2/1 port-errors warning; mlx5_2/1 port-counter-full info");
  EXPECT_EQ(node.pass(420), "mlx5_2/1 port-counter-full info");
}

TEST(PortChecks, ALinkLostOnceIsInformationAndAgainAnError) {
  PortNode node;
  node.pass(60);
  node.now.ports[1].counters["link_downed"] = 1;
  EXPECT_EQ(node.pass(30), "mlx5_1/1 port-flapping info");
  node.now.ports[1].counters["link_downed"] = 2;
  EXPECT_EQ(node.pass(30), "mlx5_1/1 port-flapping error");
}

TEST(PortChecks, PortsThatLostTheirLinkEquallyOftenAreOneFindingOfTheNode) {
  PortNode node;
  node.pass(60);
  for (unsigned n = 0; n < 6; ++n) node.now.ports[n].counters["link_downed"] = 1;
  node.now.ports[7].counters["link_downed"] = 3;
  EXPECT_EQ(node.pass(30), "mlx5_7/1 port-flapping error; node1 ports-lost-together warning");
  const auto& told = node.found[0].entity.kind == EntityKind::node ? node.found[0] : node.found[1];
  EXPECT_EQ(told.message, "6 ports lost their link, each as often as another, within 1 min 15 s");
  EXPECT_EQ(told.evidence.at(0),
            "1 times down: mlx5_0/1, mlx5_1/1, mlx5_2/1, mlx5_3/1, mlx5_4/1, mlx5_5/1");
  EXPECT_EQ(node.pass(720), "") << "ten minutes, and one more";
}

TEST(PortChecks, PortsOfWhichOneLostItsLinkALookLaterAreStillOneFinding) {
  PortNode node;
  node.pass(60);
  node.now.ports[0].counters["link_downed"] = 1;
  EXPECT_EQ(node.pass(15), "mlx5_0/1 port-flapping info");
  node.now.ports[1].counters["link_downed"] = 1;
  EXPECT_EQ(node.pass(120), "node1 ports-lost-together warning");
}

TEST(PortChecks, WhatTellsOfThePathBeyondIsInformationUnlessAFileSaysMore) {
  PortNode node;
  node.pass(60);
  node.now.ports[1].counters["out_of_sequence"] = 1000;
  EXPECT_EQ(node.pass(30), "mlx5_1/1 port-packets-lost info");
  const auto louder = read_checks(
      "checks:\n  - {id: port-packets-lost, severity: error, window: 1m, clear_for: 0s}\n",
      "site.yaml", built_in_checks());
  ASSERT_TRUE(louder) << louder.error().message();
  PortNode strict(*louder);
  strict.pass(60);
  strict.now.ports[1].counters["out_of_sequence"] = 1000;
  EXPECT_EQ(strict.pass(30), "mlx5_1/1 port-packets-lost error");
  EXPECT_EQ(strict.pass(75), "");
}

TEST(PortChecks, WhatCouldNotBeReadNeitherBeginsNorEnds) {
  PortNode node;
  node.pass(60);
  unplug(node.now.ports[3]);
  EXPECT_EQ(node.pass(90), "mlx5_3/1 port-down warning");
  node.hang();
  EXPECT_EQ(node.pass(1800), "mlx5_3/1 port-down warning");
  EXPECT_NE(node.found[0].evidence.back().find("not known now"), std::string::npos);
  const auto of_node = evaluate(node.snapshot());
  EXPECT_TRUE(
      std::ranges::any_of(of_node, [](const Finding& one) { return one.rule == "ports-unknown"; }));
  node.hangs = false;
  node.now = eight_ports();
  EXPECT_EQ(node.pass(120), "");
  node.now.ports[3].state.clear();
  node.now.ports[3].physical.clear();
  EXPECT_EQ(node.pass(120), "") << "unread is no fault of the port's";
}

TEST(PortChecks, APortThatLeftTheBusIsMissedAndOneThatWasGivenAwayIsNot) {
  const auto gone = [](AbsentRdmaDevice device) {
    PortNode node;
    node.pass(60);
    device.device = "mlx5_7";
    device.pci = node.now.ports.back().pci;
    node.now.ports.pop_back();
    node.now.absent = {device};
    return node.pass(90);
  };
  EXPECT_EQ(gone({}), "mlx5_7/1 port-gone error");
  EXPECT_EQ(gone({.on_bus = true}), "mlx5_7/1 port-gone error") << "no driver, or its own still";
  EXPECT_EQ(gone({.on_bus = true, .driver = "vfio-pci"}), "") << "a guest's";
  EXPECT_EQ(gone({.on_bus = true, .driver = "mlx5_core"}), "") << "another network namespace's";
  PortNode node;
  node.pass(60);
  node.now.ports.pop_back();
  node.now.unread = {"mlx5_7: Input/output error"};
  EXPECT_EQ(node.pass(90), "") << "its ports could not be listed: not known";
}

TEST(PortChecks, APortThatWasMissedBeforeARestartIsMissedAfterIt) {
  PortNode node;
  unplug(node.now.ports[3]);
  unplug(node.now.ports[4]);
  node.engine().remember_port("port-down", {EntityKind::port, "mlx5_3/1"});
  EXPECT_EQ(node.pass(90), "mlx5_3/1 port-down warning; mlx5_4/1 port-down info");
}

TEST(PortChecks, AFileMayTurnThemOffAndSayWhenTheyAreToldAndNothingElse) {
  const auto off =
      read_checks("checks:\n  - {id: port-down, enabled: false}\n", "site.yaml", built_in_checks());
  ASSERT_TRUE(off);
  PortNode node(*off);
  node.pass(60);
  unplug(node.now.ports[3]);
  EXPECT_EQ(node.pass(120), "");
  const auto refused = [](const std::string& row) {
    const auto read = read_checks("checks:\n  - " + row + "\n", "site.yaml", built_in_checks());
    return read ? std::string() : read.error().message();
  };
  EXPECT_NE(refused("{id: port-down, limit: 3}"), "");
  EXPECT_NE(refused("{id: port-down, window: 3m}"), "") << "it counts nothing";
  EXPECT_NE(refused("{id: port-errors, window: 0s}"), "");
  EXPECT_NE(refused("{id: port-mine, kind: port, scope: gpu}"), "");
}

TEST(PortChecks, TheRulesSayTheirCountersAndLimits) {
  for (const Check& check : built_in_checks()) {
    if (check.kind != CheckKind::port) continue;
    EXPECT_EQ(check.window > Nanoseconds{0},
              !fabric::limits_of(check.id).empty() || check.id == "port-counter-full")
        << check.id;
    EXPECT_FALSE(check.source.empty()) << check.id;
  }
}

RC_GTEST_PROP(PortChecksProperty, NeverMoreIsToldThanCameHoweverACounterIsClearedOrGoesRound, ()) {
  PortNode node(port_checks());
  node.pass(15, 15);
  std::uint64_t came = 0;
  std::uint64_t shown = 0;
  for (int look = 0; look < 30; ++look) {
    const auto more = *rc::gen::inRange<std::uint64_t>(0, 40'000);
    came += more;
    if (*rc::gen::inRange(0, 4) == 0) shown = 0;
    shown = (shown + more) & 0xffff'ffffU;
    node.now.ports[0].counters["out_of_sequence"] = shown;
    node.pass(15, 15);
    for (const Finding& finding : node.found) {
      const auto text = finding.evidence.at(0);
      const auto digits = text.find_first_of("0123456789");
      RC_ASSERT(std::stoull(text.substr(digits)) <= came);
    }
  }
}

}  // namespace
}  // namespace stoker::health
