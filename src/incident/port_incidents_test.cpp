// What is wrong with an RDMA port is one incident, whoever says it: the checks, the kernel, what an operator expects.
#include <gtest/gtest.h>

#include "health/port_checks.h"
#include "incident/clerk.h"
#include "incident/story_test_support.h"

namespace stoker::incident {
namespace {

constexpr const char* unplugged =
    "mlx5_core 0000:50:00.0: Port module event: module 3, Cable unplugged";

Finding port_finding(const std::string& rule, Severity severity = Severity::warning) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.entity = {EntityKind::port, "mlx5_3/1"};
  finding.message = "mlx5_3 port 1: " + rule;
  finding.action = Action::inspect_cable;
  return finding;
}

Finding expected_nics(const std::vector<std::string>& evidence) {
  Finding finding;
  finding.rule = "expected-nics";
  finding.severity = Severity::error;
  finding.entity = {EntityKind::node, "node-1"};
  finding.evidence = evidence;
  finding.action = Action::inspect_cable;
  return finding;
}

Story with_nic() {
  Story story;
  story.node().nics["mlx5_3"] = *PciAddress::parse("0000:50:00.0");
  return story;
}

TEST(PortIncidents, ACableThatIsOutIsOneWhateverIsSaidOfIt) {
  Story story = with_nic();
  story.line(0, unplugged);
  story.found(15, {port_finding("port-flapping")});
  story.found(60, {port_finding("port-flapping"), port_finding("port-down"),
                   port_finding("port-errors"), expected_nics({"mlx5_3: its port is DOWN"})});
  EXPECT_EQ(story.told(), "open network-port nic:0000:50:00.0 error inspect_cable x5");
  story.found(200, {});
  EXPECT_EQ(story.told(), "proving network-port nic:0000:50:00.0 error inspect_cable x5");
  story.pass(900);
  EXPECT_EQ(story.told(), "resolved network-port nic:0000:50:00.0 error inspect_cable x5");
}

TEST(PortIncidents, TheKernelsLineJoinsWhatACheckFoundBefore) {
  Story story = with_nic();
  story.found(0, {port_finding("port-down")}).line(30, unplugged);
  EXPECT_EQ(story.told(), "open network-port nic:0000:50:00.0 error inspect_cable x2");
}

TEST(PortIncidents, SeveralPortsThatAreMissedAreTheNodesMatter) {
  Story story = with_nic();
  story.found(0, {expected_nics({"mlx5_3: its port is DOWN", "mlx5_4: is not there"})});
  EXPECT_EQ(story.told(), "open expected-nics node:node-1 error inspect_cable x1");
}

TEST(PortIncidents, WhatSomebodySetIsAMatterOfItsOwnAndInformationIsNone) {
  Story story = with_nic();
  story.found(0, {port_finding("port-mtu-differs"), port_finding("port-down"),
                  port_finding("port-packets-lost", Severity::info)});
  EXPECT_EQ(story.told(),
            "open port-mtu-differs nic:0000:50:00.0 warning inspect_cable x1; "
            "open network-port nic:0000:50:00.0 warning inspect_cable x1");
}

TEST(PortIncidents, ASubnetManagerThatIsMissingIsOneForAllPorts) {
  Story story = with_nic();
  Finding second = port_finding("port-not-configured", Severity::error);
  second.entity.id = "mlx5_4/1";
  story.found(0, {port_finding("port-not-configured", Severity::error), second});
  EXPECT_EQ(story.told(), "open port-not-configured node:node-1 error inspect_cable x2");
}

TEST(PortIncidents, PortsThatLostTheirLinkTogetherAreTheNodesMatter) {
  Story story = with_nic();
  Finding together = port_finding("ports-lost-together");
  together.entity = {EntityKind::node, "node-1"};
  together.action = Action::observe;
  story.found(0, {together});
  EXPECT_EQ(story.told(), "open network-port node:node-1 warning observe x1");
}

TEST(PortIncidents, WhatIsNotKnownIsNotOver) {
  Story story = with_nic();
  story.found(0, {port_finding("port-down")});
  story.node().ports_known = false;
  story.found(60, {});
  EXPECT_EQ(story.told(), "open network-port nic:0000:50:00.0 warning inspect_cable x1");
}

WallTime wall_of(int second) { return {Seconds(1'700'000'000 + second)}; }

// A clerk that sees eight ports, of which mlx5_3 has no link, and mlx5_4 never had one.
class PortClerk {
 public:
  explicit PortClerk(std::vector<Incident> before) : clerk_("boot-1", wall_of(0)) {
    clerk_.restore(std::move(before), {});
    clerk_.set_checks(health::port_checks());
    snapshot_.hostname = "node-1";
    snapshot_.source.state = device::SourceState::running;
  }
  std::string pass(int seconds) {
    for (int second = 0; second < seconds; ++second, ++now_) {
      if (now_ % 15 == 0) look();
      snapshot_.taken_at = {Seconds(1000 + now_)};
      snapshot_.wall = wall_of(now_);
      clerk_.look(snapshot_, {.monotonic = snapshot_.taken_at, .wall = snapshot_.wall});
    }
    std::string out;
    for (const auto& one : clerk_.book().all()) {
      if (one.cause != "network-port") continue;
      out += fmt::format("{} {} {};", to_string(one.state), one.cause, one.entity.id);
    }
    return out;
  }
  void plug(bool in) { in_ = in; }
  Clerk& clerk() { return clerk_; }

 private:
  void look() {
    RdmaPorts ports{.at = {Seconds(1000 + now_)}};
    for (unsigned n = 0; n < 8; ++n) {
      const bool up = n != 4 && (n != 3 || in_);
      ports.ports.push_back({.device = fmt::format("mlx5_{}", n),
                             .pci = PciAddress{.bus = static_cast<std::uint8_t>(0x20 + n)},
                             .link_layer = "InfiniBand",
                             .state = up ? "ACTIVE" : "DOWN",
                             .physical = up ? "LinkUp" : "Polling",
                             .rate = "400 Gb/sec (4X NDR)",
                             .counters = {{"link_downed", 0}}});
    }
    snapshot_.ports = std::make_shared<const RdmaPorts>(std::move(ports));
  }

  Clerk clerk_;
  store::Snapshot snapshot_;
  int now_ = 0;
  bool in_ = true;
};

TEST(PortIncidents, BeginWithAFaultOutliveARestartAndEndWhenItIsMended) {
  PortClerk node({});
  EXPECT_EQ(node.pass(90), "open network-port 0000:24:00.0;")
      << "one of eight has no link and looks for a partner";
  node.plug(false);
  EXPECT_EQ(node.pass(120), "open network-port 0000:24:00.0;open network-port 0000:23:00.0;");
  PortClerk after(node.clerk().book().all());
  after.plug(false);
  EXPECT_EQ(after.pass(120), "open network-port 0000:24:00.0;open network-port 0000:23:00.0;");
  after.plug(true);
  EXPECT_EQ(after.pass(120), "open network-port 0000:24:00.0;proving network-port 0000:23:00.0;");
}

}  // namespace
}  // namespace stoker::incident
