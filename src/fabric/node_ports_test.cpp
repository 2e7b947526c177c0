#include "fabric/node_ports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace stoker::fabric {
namespace {

// Eight ports of InfiniBand as they should be.
RdmaPorts rack() {
  RdmaPorts ports;
  for (unsigned n = 0; n < 8; ++n) {
    ports.ports.push_back({.device = fmt::format("mlx5_{}", n),
                           .model = "MT4129",
                           .link_layer = "InfiniBand",
                           .state = "ACTIVE",
                           .physical = "LinkUp",
                           .rate = "400 Gb/sec (4X NDR)",
                           .counters = {{"symbol_error", 0},
                                        {"link_downed", 1},
                                        {"port_xmit_data", 100},
                                        {"port_rcv_remote_physical_errors", 0}}});
  }
  return ports;
}

// The same of RoCE.
RdmaPorts ethernet() {
  RdmaPorts ports = rack();
  for (RdmaPort& port : ports.ports) {
    port.link_layer = "Ethernet";
    port.netdev = "eth0";
    port.mtu = 9000;
    port.gids = {{.index = 1, .gid = "fe80:0000:0000:0000:5100:00ff:fe00:0001", .type = "RoCE v2"},
                 {.index = 3, .gid = "0000:0000:0000:0000:0000:ffff:c000:0201", .type = "RoCE v2"}};
    port.ecn_notices = {{3, true}};
    port.ecn_reacts = {{3, true}};
    port.counters = {{"out_of_sequence", 5}, {"local_ack_timeout_err", 0}, {"rx_read_requests", 9}};
  }
  return ports;
}

RdmaPorts later(RdmaPorts ports) {
  ports.at = ports.at + Seconds(60);
  return ports;
}

// "port-down/warning mlx5_3/1; …"
std::string told(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& one : findings) {
    out += fmt::format("{}{}/{} {}", out.empty() ? "" : "; ", one.rule, to_string(one.severity),
                       one.entity.id);
  }
  return out;
}

TEST(NodePorts, WhereAllIsWellNothingIsSaid) {
  for (const auto& ports : {rack(), ethernet()}) {
    const auto now = later(ports);
    EXPECT_EQ(told(judge_ports(now, &ports)), "");
  }
}

TEST(NodePorts, WhatMostOfAKindAreIsWhatOneShouldBe) {
  RdmaPorts ports = rack();
  ports.ports[3].physical = "Polling";
  ports.ports[3].state = "DOWN";
  ports.ports[5].rate = "200 Gb/sec (2X NDR)";
  EXPECT_EQ(told(judge_ports(ports, nullptr)),
            "port-down/warning mlx5_3/1; port-slow/warning mlx5_5/1");
  // Of eight of another kind none is used.
  for (unsigned n = 0; n < 4; ++n) ports.ports[n].physical = "Disabled";
  for (unsigned n = 4; n < 7; ++n) ports.ports[n].physical = "Polling";
  ports.ports[5].rate.clear();
  const auto findings = judge_ports(ports, nullptr);
  EXPECT_EQ(findings.size(), 7U);
  EXPECT_EQ(findings[0].severity, Severity::info) << "nobody knows which are meant to be used";
}

TEST(NodePorts, ANodeWithoutAnyLinkIsNotFine) {
  RdmaPorts ports = rack();
  for (RdmaPort& port : ports.ports) port.state = "DOWN";  // whatever the physical state says
  const auto findings = judge_ports(ports, nullptr);
  ASSERT_EQ(findings.size(), 8U);
  EXPECT_EQ(findings[0].severity, Severity::warning);
}

TEST(NodePorts, ALinkThatNobodyConfiguresIsAMatterOfTheSubnetManager) {
  RdmaPorts ports = rack();
  ports.ports[0].state = "INIT";
  EXPECT_EQ(told(judge_ports(ports, nullptr)), "port-not-configured/error mlx5_0/1");
}

TEST(NodePorts, CountersAreJudgedByWhatCameBetweenTwoLooks) {
  const RdmaPorts before = rack();
  RdmaPorts now = later(before);
  now.ports[1].counters["symbol_error"] = 500;
  now.ports[2].counters["link_downed"] = 2;
  now.ports[3].counters["port_xmit_data"] = 1'000'000;
  now.ports[4].counters["port_rcv_remote_physical_errors"] = 5000;  // broken before this link
  now.ports[5].counters["symbol_error"] = 3;
  EXPECT_EQ(told(judge_ports(now, nullptr)), "") << "what they hold has no time";
  EXPECT_EQ(told(judge_ports(now, &before)),
            "port-errors/warning mlx5_1/1; port-flapping/info mlx5_2/1");
  now.ports[2].counters["link_downed"] = 3;
  EXPECT_EQ(told(judge_ports(now, &before)),
            "port-flapping/error mlx5_2/1; port-errors/warning mlx5_1/1");
}

TEST(NodePorts, ACounterThatWasClearedTellsWhatItHasCountedSince) {
  RdmaPorts before = rack();
  before.ports[0].counters["symbol_error"] = 60'000;
  RdmaPorts now = later(before);
  now.ports[0].counters["symbol_error"] = 40;
  const auto findings = judge_ports(now, &before);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].evidence[0], "at least 40 symbol errors (symbol_error)");
}

TEST(NodePorts, ACounterAtItsHighestValueIsNotTakenForQuiet) {
  RdmaPorts before = rack();
  before.ports[0].counters["symbol_error"] = 65'535;  // 16 bits
  const RdmaPorts now = later(before);
  EXPECT_EQ(told(judge_ports(now, &before)), "port-counter-full/info mlx5_0/1");
}

TEST(NodePorts, RoceIsJudgedByItsAddressesItsMtuItsEcnAndWhatIsLost) {
  const RdmaPorts before = ethernet();
  RdmaPorts now = later(before);
  now.ports[0].gids.pop_back();
  now.ports[1].mtu = 1500;
  now.ports[2].ecn_notices = {{3, false}};
  now.ports[2].ecn_reacts = {{3, false}};
  now.ports[3].counters["out_of_sequence"] = 2000;
  now.ports[4].counters["local_ack_timeout_err"] = 40;
  EXPECT_EQ(told(judge_ports(now, &before)),
            "port-path-broken/error mlx5_4/1; port-no-roce-v2/warning mlx5_0/1; "
            "port-mtu-differs/warning mlx5_1/1; port-no-ecn/warning mlx5_2/1; "
            "port-packets-lost/warning mlx5_3/1");
}

TEST(NodePorts, APortThatIsNotThereAnyMoreIsTold) {
  const RdmaPorts before = rack();
  RdmaPorts now = later(before);
  now.ports.pop_back();
  EXPECT_EQ(told(judge_ports(now, &before)), "port-gone/error mlx5_7/1");
}

TEST(NodePorts, AreTheSameForPrograms) {
  const RdmaPorts before = rack();
  RdmaPorts now = later(before);
  now.ports[2].counters["link_downed"] = 2;
  now.ports[7].unread = {"counters/symbol_error: Invalid argument"};
  const auto json = ports_json(now, &before, judge_ports(now, &before));
  EXPECT_NE(json.find(R"("counter":"link_downed","at_least":1,"exact":true)"), std::string::npos);
  EXPECT_NE(json.find(R"("unread":["counters/symbol_error: Invalid argument"])"),
            std::string::npos);
}

RC_GTEST_PROP(NodePortsProperty, NoCounterIsSaidToHaveCountedMoreThanItDid,
              (std::uint64_t start, std::uint32_t more)) {
  // 32 bits that go round, a clear in between, or neither.
  const std::uint64_t before = start & 0xffff'ffffU;
  const bool cleared = *rc::gen::arbitrary<bool>();
  const std::uint64_t now = cleared ? more : (before + more) & 0xffff'ffffU;
  RdmaPort one{.counters = {{"out_of_sequence", before}}};
  RdmaPort other{.counters = {{"out_of_sequence", now}}};
  for (const PortCount& count : counted_on(one, other)) RC_ASSERT(count.counted.least <= more);
}

}  // namespace
}  // namespace stoker::fabric
