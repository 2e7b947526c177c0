#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_text.h"
#include "fabric/roce_json.h"
#include "fabric/roce_ports.h"

namespace stoker::fabric {
namespace {

// Two looks at a node of ConnectX ports, five seconds apart, set up lossless: PFC and ECN for priority 3, DSCP 26 mapped to
// it. What is set is what a test changes.
class RoceJudgement : public ::testing::Test {
 protected:
  RoceJudgement() {
    for (int i = 0; i < 4; ++i) add(i);
    before_.at = MonotonicTime(std::chrono::seconds(100));
    now_.at = MonotonicTime(std::chrono::seconds(105));
    roce_before_.at = before_.at;
    roce_now_.at = now_.at;
  }

  void add(int i) {
    RdmaPort port{.device = "mlx5_" + std::to_string(i),
                  .model = "MT4129",
                  .link_layer = "Ethernet",
                  .state = "ACTIVE",
                  .physical = "LinkUp",
                  .netdev = "eth" + std::to_string(i)};
    port.gids = {{.index = 3,
                  .gid = "0000:0000:0000:0000:0000:ffff:c000:0201",
                  .type = "RoCE v2",
                  .netdev = port.netdev}};
    port.ecn_notices = {{2, false}, {3, true}};
    port.ecn_reacts = port.ecn_notices;
    port.counters = {{"port_rcv_data", 1000}, {"out_of_sequence", 0}};
    before_.ports.push_back(port);
    port.counters["port_rcv_data"] = 2000;
    now_.ports.push_back(port);
    RoceNetdev netdev{.netdev = port.netdev, .devices = {port.device}, .driver = "mlx5_core"};
    netdev.dcb =
        DcbSettings{.pfc = PriorityMask(8), .ets = {}, .priority_of_dscp = {{26, 3}, {48, 6}}};
    netdev.pause = PauseSettings{};
    netdev.traffic_class = 106;
    netdev.counters = {{"rx_discards_phy", 5}, {"rx_prio3_discards", 5}, {"rx_prio0_discards", 5}};
    roce_before_.netdevs.push_back(netdev);
    roce_now_.netdevs.push_back(netdev);
  }

  template <typename Change>
  void everywhere(Change change) {
    for (auto* look : {&roce_before_, &roce_now_})
      for (RoceNetdev& netdev : look->netdevs) change(netdev);
  }
  void no_pfc() {
    everywhere([](RoceNetdev& netdev) { netdev.dcb->pfc = PriorityMask(0); });
  }
  RoceNetdev& first() { return roce_now_.netdevs[0]; }
  void counts(const std::string& name, std::uint64_t value) {
    roce_before_.netdevs[0].counters.try_emplace(name, 0);
    first().counters[name] = roce_before_.netdevs[0].counters[name] + value;
  }
  [[nodiscard]] RoceLooks looks() const {
    return {.ports = now_,
            .roce = roce_now_,
            .ports_before = &before_,
            .roce_before = &roce_before_,
            .filter = filter_ ? &*filter_ : nullptr};
  }
  std::vector<Finding> judge() { return judge_roce(looks()); }
  std::string rules() {
    std::string all;
    for (const Finding& finding : judge()) all += (all.empty() ? "" : " ") + finding.rule;
    return all;
  }

  RdmaPorts before_;
  RdmaPorts now_;
  RoceLook roce_before_;
  RoceLook roce_now_;
  std::optional<FilterLook> filter_;
};

TEST_F(RoceJudgement, SaysThatPfcIsNotKnownWhereTheDriverAnswersWithoutIt) {
  RoceNetdev netdev{.netdev = "eth0"};
  netdev.dcb_reason = "Operation not supported";
  EXPECT_EQ(roce_text(netdev, {}), "PFC not known (Operation not supported)");
  netdev.dcb.emplace();
  EXPECT_EQ(roce_text(netdev, {}), "PFC not known (its driver tells none)");
}

TEST_F(RoceJudgement, OfALosslessOrALossyNetworkThatWorksIsSilent) {
  EXPECT_EQ(rules(), "");
  no_pfc();
  EXPECT_EQ(rules(), "") << "lossy RoCE is a choice";
  everywhere([](RoceNetdev& netdev) {
    netdev.dcb.reset();
    netdev.pause.reset();
    netdev.counters.clear();
    netdev.traffic_class.reset();
  });
  EXPECT_EQ(rules(), "") << "of what is not known nothing is said";
}

TEST_F(RoceJudgement, DropsWithoutAnyFlowControlAreToldWithWhatWouldStopThem) {
  no_pfc();
  counts("rx_discards_phy", 9);
  EXPECT_EQ(rules(), "") << "a handful";
  counts("rx_discards_phy", 10);
  const auto told = judge();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].rule, "roce-loss-without-flow-control");
  EXPECT_EQ(told[0].severity, Severity::warning);
  EXPECT_EQ(told[0].entity.id, "mlx5_0/1");
  EXPECT_EQ(told[0].message,
            "eth0 (mlx5_0): 10 received packets dropped for want of buffers (rx_discards_phy) "
            "within 5 s");
  everywhere(
      [](RoceNetdev& netdev) { netdev.pause = PauseSettings{.receives = true, .sends = true}; });
  EXPECT_EQ(rules(), "roce-receive-drops") << "global pause is flow control, too";
  everywhere([](RoceNetdev& netdev) { netdev.pause.reset(); });
  EXPECT_EQ(rules(), "roce-receive-drops") << "whether there is any is not known";
}

TEST_F(RoceJudgement, WithoutTrafficOfRoceDropsAreNotItsLoss) {
  no_pfc();
  counts("rx_discards_phy", 100);
  now_.ports[0].counters = before_.ports[0].counters;
  EXPECT_EQ(rules(), "roce-receive-drops");
}

TEST_F(RoceJudgement, LossElsewhereInALossyNetworkIsInformation) {
  now_.ports[0].counters["out_of_sequence"] = 500;
  EXPECT_EQ(rules(), "") << "with PFC, port-packets-lost tells it";
  no_pfc();
  const auto told = judge();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].rule, "roce-loss-without-flow-control");
  EXPECT_EQ(told[0].severity, Severity::info);
}

TEST_F(RoceJudgement, APriorityWithPfcShouldNotDrop) {
  counts("rx_prio3_discards", 50);
  counts("rx_discards_phy", 50);
  EXPECT_EQ(rules(), "roce-lossless-priority-drops");
  counts("rx_prio3_discards", 0);
  counts("rx_prio0_discards", 50);
  EXPECT_EQ(rules(), "roce-receive-drops") << "of another priority";
}

TEST_F(RoceJudgement, ACounterThatFellTellsAtLeastWhatItShows) {
  counts("rx_discards_phy", 0);
  roce_before_.netdevs[0].counters["rx_discards_phy"] = 1'000'000;
  first().counters["rx_discards_phy"] = 12;
  const auto told = judge();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].message.find("at least 12"), std::string::npos) << told[0].message;
}

TEST_F(RoceJudgement, PausesAreToldByTheShareOfTime) {
  counts("rx_prio3_pause_duration", 2'400'000);
  EXPECT_EQ(rules(), "") << "less than half of five seconds";
  counts("rx_prio3_pause_duration", 4'000'000);
  const auto told = judge();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].rule, "roce-paused");
  EXPECT_EQ(told[0].message,
            "eth0 (mlx5_0): the network forbade it to send with priority 3 for 80 % of 5 s");
  counts("rx_prio3_pause_duration", 50'000'000);
  EXPECT_EQ(rules(), "") << "more than all of it is no time that we know";
  counts("rx_prio3_pause_duration", 0);
  counts("tx_global_pause_duration", 5'000'000);
  EXPECT_EQ(rules(), "roce-pauses-network");
  roce_before_.at = MonotonicTime(std::chrono::milliseconds(104'900));
  counts("tx_global_pause_duration", 90'000);
  EXPECT_EQ(rules(), "") << "a tenth of a second is too short for a share";
}

TEST_F(RoceJudgement, CountersOfTheWireAndTheBusAreTold) {
  counts("link_down_events_phy", 1);
  EXPECT_EQ(rules(), "roce-link-down");
  before_.ports[0].counters["link_downed"] = 0;
  now_.ports[0].counters["link_downed"] = 1;
  EXPECT_EQ(rules(), "") << "the port's own counter has told it (port-flapping)";
  counts("tx_pause_storm_error_events", 1);
  counts("tx_pause_storm_warning_events", 2);
  counts("rx_oversize_pkts_phy", 10);
  counts("outbound_pci_stalled_wr_events", 4);
  counts("tx_discards_phy", 10);
  EXPECT_EQ(rules(),
            "roce-pause-storm roce-bus-stalls roce-pause-storm-near roce-peer-mtu roce-send-drops");
}

TEST_F(RoceJudgement, SymbolErrorsAreMeasuredByTheBitsThatCouldHaveCome) {
  counts("rx_pcs_symbol_err_phy", 20);
  EXPECT_EQ(rules(), "roce-signal-errors");
  counts("rx_bits_phy", 2'000'000'000'000);
  EXPECT_EQ(rules(), "roce-signal-errors");
  counts("rx_bits_phy", 40'000'000'000'000);
  EXPECT_EQ(rules(), "") << "not more than one in 10^12";
  counts("rx_corrected_bits_phy", 1'000'000'000);
  EXPECT_EQ(rules(), "") << "that is what FEC is for";
}

TEST_F(RoceJudgement, PfcWithoutEcnIsInformationUntilPausesAreAtWork) {
  for (auto* ports : {&before_, &now_})
    for (RdmaPort& port : ports->ports)
      port.ecn_notices = port.ecn_reacts = {{0, true}, {3, false}};
  auto told = judge();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0].rule, "roce-pfc-without-ecn");
  EXPECT_EQ(told[0].severity, Severity::info);
  counts("rx_prio3_pause", 100);
  EXPECT_EQ(judge()[0].severity, Severity::warning);
  for (auto* ports : {&before_, &now_})
    for (RdmaPort& port : ports->ports) port.ecn_notices = port.ecn_reacts = {};
  EXPECT_EQ(rules(), "") << "the driver does not say";
}

TEST_F(RoceJudgement, ADscpThatNobodyTrustsIsSuspect) {
  everywhere([](RoceNetdev& netdev) { netdev.dcb->priority_of_dscp.clear(); });
  const auto told = judge();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0].rule, "roce-dscp-not-trusted");
  EXPECT_EQ(told[0].state, FindingState::suspect);
  everywhere([](RoceNetdev& netdev) { netdev.driver = "bnxt_en"; });
  EXPECT_EQ(rules(), "") << "when that one trusts is not known";
  everywhere([](RoceNetdev& netdev) {
    netdev.driver = "mlx5_core";
    netdev.traffic_class = 2;
  });
  EXPECT_EQ(rules(), "") << "no DSCP is used";
  everywhere([](RoceNetdev& netdev) { netdev.traffic_class = 106; });
  for (RdmaPort& port : now_.ports)
    port.gids.push_back({.index = 5, .type = "RoCE v2", .netdev = "eth0.100"});
  EXPECT_EQ(rules(), "") << "packets of a VLAN have a tag";
}

TEST_F(RoceJudgement, ADscpOfAPriorityWithoutPfcIsTold) {
  everywhere([](RoceNetdev& netdev) { netdev.traffic_class = 48 << 2; });
  EXPECT_EQ(judge().at(0).message,
            "eth0 (mlx5_0): RoCE's packets have DSCP 48, which is priority 6; PFC is on for 3");
  everywhere([](RoceNetdev& netdev) { netdev.traffic_class = 10 << 2; });
  EXPECT_EQ(rules(), "") << "of a DSCP that is not mapped the priority is not known";
}

TEST_F(RoceJudgement, APortThatIsSetUpOtherwiseThanMostIsTold) {
  first().dcb->pfc = PriorityMask(16);
  first().cnp_dscp = 46;
  for (std::size_t i = 1; i < 4; ++i) roce_now_.netdevs[i].cnp_dscp = 48;
  now_.ports[0].ecn_notices[4] = true;
  const auto told = judge();
  const auto differs = std::ranges::find(told, "roce-settings-differ", &Finding::rule);
  ASSERT_NE(differs, told.end());
  EXPECT_EQ(differs->message,
            "eth0 (mlx5_0): PFC 4 (most: 3); ECN 3, 4 (most: 3); CNP DSCP 46 (most: 48)");
  for (std::size_t i = 1; i < 4; ++i) now_.ports[i].model = "MT4123";
  EXPECT_EQ(rules().find("roce-settings-differ"), std::string::npos)
      << "of its kind it is the only";
}

TEST_F(RoceJudgement, APacketFilterIsOfNoConcernToAdapters) {
  const FilterDrop drop{.chain = "chain input of table inet f",
                        .rule = "chain input of table inet f: udp dport == 4791 drop",
                        .way = FilterWay::in,
                        .family = "inet"};
  FilterDrop policy = drop;
  policy.rule.clear();
  filter_ = FilterLook{.drops = {policy}};
  EXPECT_EQ(rules(), "");
  filter_ = FilterLook{.drops = {drop}, .named = {drop}};
  const auto told = judge();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].rule, "roce-filter-without-effect");
  EXPECT_EQ(told[0].severity, Severity::info);
}

TEST_F(RoceJudgement, SoftwareRoceGoesThroughTheFilter) {
  everywhere([](RoceNetdev& netdev) {
    netdev.software = true;
    netdev.dcb.reset();
    netdev.traffic_class.reset();
  });
  roce_now_.netdevs.resize(1);
  FilterDrop drop{.chain = "chain INPUT of table ip filter", .way = FilterWay::in, .family = "ip"};
  filter_ = FilterLook{.drops = {drop}};
  const auto suspect = judge();
  ASSERT_EQ(suspect.size(), 1U);
  EXPECT_EQ(suspect[0].rule, "roce-packets-maybe-filtered");
  EXPECT_EQ(suspect[0].state, FindingState::suspect);
  EXPECT_NE(suspect[0].message.find("chain INPUT of table ip filter"), std::string::npos);
  filter_->drops[0].rule = "chain INPUT of table ip filter: -p udp --dport 4791 -j DROP";
  EXPECT_EQ(rules(), "roce-packets-filtered");
  filter_->drops[0].family = "ip6";
  EXPECT_EQ(rules(), "") << "it has no address of IPv6";
}

TEST_F(RoceJudgement, ANetworkDeviceThatComesOrGoesBetweenTwoLooksHasNoCounts) {
  counts("rx_discards_phy", 100);
  roce_before_.netdevs.erase(roce_before_.netdevs.begin());
  EXPECT_EQ(rules(), "");
  EXPECT_EQ(judge_roce({.ports = now_, .roce = roce_now_}).size(), 0U);
}

TEST_F(RoceJudgement, TheDocumentSaysWhatIsKnownAndWhyTheRestIsNot) {
  roce_now_.netdevs.resize(1);
  counts("rx_discards_phy", 3);
  first().pause.reset();
  first().pause_reason = "the driver does not tell pause";
  filter_ = look_at_filter("", "nft is not installed", "", "");
  JsonWriter json;
  json.begin_object();
  write_roce(json, looks());
  json.end_object();
  EXPECT_NE(json.text().find(R"("pfc_priorities":[3])"), std::string::npos) << json.text();
  EXPECT_NE(json.text().find(R"("pause":null,"pause_reason":"the driver does not tell pause")"),
            std::string::npos);
  EXPECT_NE(json.text().find(R"({"counter":"rx_discards_phy","at_least":3)"), std::string::npos);
  EXPECT_NE(json.text().find(R"("unread":["nftables: nft is not installed"])"), std::string::npos);
}

TEST(RoceCounters, ANameIsKnownByItsRow) {
  EXPECT_TRUE(is_roce_counter("rx_discards_phy"));
  EXPECT_TRUE(is_roce_counter("rx_prio7_pause_duration"));
  EXPECT_FALSE(is_roce_counter("rx_prio8_pause_duration"));
  EXPECT_FALSE(is_roce_counter("rx_prio_pause_duration"));
  EXPECT_FALSE(is_roce_counter("rx0_packets"));
  EXPECT_FALSE(is_roce_counter(""));
}

}  // namespace
}  // namespace stoker::fabric
