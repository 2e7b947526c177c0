#include "fabric/ufm.h"

#include <gtest/gtest.h>

#include "fabric/judge.h"

namespace stoker::fabric {
namespace {

// As the guide shows one, with other names; `more` has what a case changes.
std::string port_text(
    const std::string& name, const std::string& peer, const std::string& node,
    const std::string& description,
    const std::string& rate = "\"active_speed\":\"HDR\",\"active_width\":\"4x\"") {
  return R"({"active_mtu":4096,)" + rate +
         R"(,"enabled_speed":["SDR","EDR","HDR"],"supported_speed":["SDR","EDR","HDR"],)"
         R"("enabled_width":["1x","4x"],"supported_width":["1x","4x"],"name":")" +
         name + R"(","peer":")" + peer + R"(","node_description":")" + node +
         R"(","description":")" + description +
         R"(","logical_state":"Active","physical_state":"Link Up","severity":"Info","lid":7,"capabilities":["disable"]})";
}

const std::string switch_end =
    port_text("900a840300ac8c40_5", "248a070300a29d74_1", "sw1:5", "Switch IB Port");
const std::string host_end =
    port_text("248a070300a29d74_1", "900a840300ac8c40_5", "gpu01 mlx5_0:1", "Computer IB Port");

TEST(Ufm, AListOfPortsIsASweep) {
  const auto sweep = read_ufm_ports("[" + switch_end + "," + host_end + "]");
  ASSERT_TRUE(sweep) << sweep.error().message();
  const auto cables = cables_of(*sweep);
  ASSERT_EQ(cables.size(), 1U);
  EXPECT_EQ(cables[0], (Cable{{0x900a840300ac8c40, 5}, {0x248a070300a29d74, 1}}));
  EXPECT_EQ(sweep->name_of(0x248a070300a29d74), "gpu01 mlx5_0");
  const Port* port = sweep->port({0x900a840300ac8c40, 5});
  EXPECT_EQ(port->state, LinkState::active);
  EXPECT_EQ(port->physical, PhysicalState::link_up);
  EXPECT_EQ(to_string(port->rate), "4X HDR");
  EXPECT_EQ(judge(*sweep, nullptr, nullptr).told.size(), 0U);
}

TEST(Ufm, ASlowLinkIsFoundAsInAnyOtherSweep) {
  const std::string slow = R"("active_speed":"EDR","active_width":"IB_4x")";
  const auto sweep = read_ufm_ports(
      "[" + port_text("900a840300ac8c40_5", "248a070300a29d74_1", "sw1:5", "Switch IB Port", slow) +
      "," +
      port_text("248a070300a29d74_1", "900a840300ac8c40_5", "gpu01 mlx5_0:1", "Computer IB Port",
                slow) +
      "]");
  ASSERT_TRUE(sweep);
  const auto judged = judge(*sweep, nullptr, nullptr);
  ASSERT_EQ(judged.told.size(), 1U);
  EXPECT_EQ(judged.told[0].finding.rule, "fabric-link-slow");
  EXPECT_EQ(judged.told[0].finding.entity.id, "sw1 port 5 <-> gpu01 mlx5_0 port 1");
}

TEST(Ufm, ItsListHasNoCountersWhichIsSaid) {
  const auto sweep = read_ufm_ports("[" + switch_end + "]");
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->no_counters, "UFM's list of ports has none");
}

TEST(Ufm, APeerThatIsNotListedIsACableThatWasNotRead) {
  const auto sweep = read_ufm_ports("[" + switch_end + "]");
  ASSERT_TRUE(sweep);
  const auto judged = judge(*sweep, nullptr, nullptr);
  ASSERT_EQ(judged.told.size(), 1U);
  EXPECT_EQ(judged.told[0].verdict, Verdict::unread);
}

TEST(Ufm, WhatIsNoListOfPortsIsRefused) {
  for (const char* text : {"", "{}", "[1]", R"([{"name":"x"}])", R"([{"name":"900a_300"}])",
                           R"({"error":"Unauthorized"})"}) {
    EXPECT_FALSE(read_ufm_ports(text)) << text;
  }
  EXPECT_FALSE(read_ufm_ports("[" + switch_end + "," + switch_end + "]"));
  EXPECT_TRUE(read_ufm_ports("[]"));
}

}  // namespace
}  // namespace stoker::fabric
