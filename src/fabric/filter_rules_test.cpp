#include "fabric/filter_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stoker::fabric {
namespace {

constexpr const char* port_match =
    R"({"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":4791}})";
constexpr const char* state_match =
    R"({"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","related"]}})";

std::string nft_chain(const std::string& name, const std::string& hook, const std::string& policy) {
  return fmt::format(
      R"({{"chain":{{"family":"inet","table":"f","name":"{}","handle":1,"type":"filter","hook":"{}","prio":0,"policy":"{}"}}}})",
      name, hook, policy);
}

std::string nft_rule(const std::string& chain, const std::string& statements) {
  return fmt::format(
      R"({{"rule":{{"family":"inet","table":"f","chain":"{}","handle":2,"expr":[{}]}}}})", chain,
      statements);
}

template <typename... Objects>
std::vector<FilterDrop> nft_drops(const Objects&... objects) {
  std::string all = R"({"nftables":[{"metainfo":{"version":"1.0.6"}})";
  ((all += "," + std::string(objects)), ...);
  const auto rules = read_nft_rules(all + "]}");
  EXPECT_TRUE(rules);
  return rules ? roce_drops(*rules) : std::vector<FilterDrop>();
}

TEST(NftRules, APolicyThatDropsIsToldWhereNoRuleCouldAccept) {
  const auto drops =
      nft_drops(nft_chain("input", "input", "drop"),
                nft_rule("input", fmt::format(R"({},{{"accept":null}})", state_match)),
                nft_rule("input", R"({"match":{"op":"==","left":{"payload":{"protocol":"tcp",
                         "field":"dport"}},"right":22}},{"accept":null})"));
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].chain, "chain input of table inet f");
  EXPECT_EQ(drops[0].rule, "");
  EXPECT_EQ(drops[0].way, FilterWay::in);
}

TEST(NftRules, ARuleThatCouldAcceptSilencesAPolicy) {
  const auto policy = nft_chain("input", "input", "drop");
  for (
      const std::string& statements : {
          fmt::format(R"({},{{"accept":null}})", port_match),
          std::string(R"({"accept":null})"),
          std::string(
              R"({"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth7"}},{"accept":null})"),
          std::string(
              R"({"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["new","established"]}},{"accept":null})"),
          std::string(
              R"({"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"set":[53,{"range":[4000,5000]}]}}},{"accept":null})"),
          std::string(R"({"something":"of a newer nft"})"),
          std::string(R"({"queue":{"num":0}})"),
          std::string(R"({"xt":null})"),
          std::string(R"({"jump":{"target":"not-there"}})"),
          std::string(
              R"({"vmap":{"key":{"meta":{"key":"iifname"}},"data":{"set":[["eth7",{"accept":null}]]}}})"),
      }) {
    EXPECT_TRUE(nft_drops(policy, nft_rule("input", statements)).empty()) << statements;
  }
}

TEST(NftRules, WhatCantAcceptAPacketOfRoceDoesNot) {
  const auto policy = nft_chain("input", "input", "drop");
  for (
      const std::string& statements : {
          std::string(
              R"({"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"lo"}},{"accept":null})"),
          std::string(
              R"({"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":"tcp"}},{"accept":null})"),
          std::string(
              R"({"match":{"op":"!=","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"range":[4000,5000]}}},{"accept":null})"),
          std::string(
              R"({"vmap":{"key":{"ct":{"key":"state"}},"data":{"set":[["established",{"accept":null}],["invalid",{"drop":null}]]}}})"),
          std::string(R"({"counter":{"packets":1,"bytes":2}},{"log":{"prefix":"x"}})"),
      }) {
    EXPECT_EQ(nft_drops(policy, nft_rule("input", statements)).size(), 1U) << statements;
  }
}

TEST(NftRules, ARuleIsFollowedThroughJumpsAndItsReturns) {
  const auto accepting = nft_chain("input", "input", "accept");
  const std::string side = R"({"chain":{"family":"inet","table":"f","name":"side","handle":3}})";
  const auto jump = nft_rule("input", R"({"jump":{"target":"side"}})");
  const auto dropping = nft_rule("side", fmt::format(R"({},{{"drop":null}})", port_match));
  const auto drops = nft_drops(accepting, side, jump, dropping);
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].rule, "chain side of table inet f: udp dport == 4791 drop");
  EXPECT_EQ(drops[0].chain, "chain input of table inet f");

  EXPECT_TRUE(
      nft_drops(accepting, side, jump, nft_rule("side", R"({"return":null})"), dropping).empty());
  const auto some = R"({"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},
                        "right":"192.0.2.1"}})";
  EXPECT_TRUE(nft_drops(accepting, side, jump,
                        nft_rule("side", fmt::format(R"({},{{"return":null}})", some)), dropping)
                  .empty())
      << "those of that address go back before";
  EXPECT_TRUE(
      nft_drops(accepting, side,
                nft_rule("input", fmt::format(R"({},{{"jump":{{"target":"side"}}}})", some)),
                dropping)
          .empty())
      << "only some are sent there";
}

TEST(NftRules, ChainsThatJumpInCirclesEnd) {
  const auto base = nft_chain("input", "input", "drop");
  const std::string side = R"({"chain":{"family":"inet","table":"f","name":"side","handle":3}})";
  const auto to_side = nft_rule("side", R"({"jump":{"target":"side"}})");
  EXPECT_TRUE(nft_drops(base, side, nft_rule("input", R"({"jump":{"target":"side"}})"), to_side,
                        to_side, to_side)
                  .empty())
      << "what could not be followed may accept";
}

TEST(NftRules, ANamedSetIsLookedUp) {
  const auto policy = nft_chain("input", "input", "drop");
  const std::string rule = nft_rule(
      "input",
      R"({"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":"@open"}},{"accept":null})");
  const auto set = [](const std::string& elements) {
    return fmt::format(R"({{"set":{{"family":"inet","table":"f","name":"open","elem":{}}}}})",
                       elements);
  };
  EXPECT_EQ(nft_drops(policy, set("[53,67]"), rule).size(), 1U);
  EXPECT_TRUE(nft_drops(policy, set("[53,4791]"), rule).empty());
  EXPECT_TRUE(nft_drops(policy, rule).empty()) << "it is not there";
  EXPECT_TRUE(nft_drops(policy, set(R"([53],"flags":["dynamic","timeout"])"), rule).empty())
      << "what it has may change";
}

TEST(NftRules, ARejectThatIptablesLeftInItsOwnWordsDrops) {
  const auto drops = nft_drops(
      nft_chain("INPUT", "input", "accept"),
      nft_rule("INPUT",
               fmt::format(R"({},{{"xt":{{"type":"target","name":"REJECT"}}}})", port_match)));
  EXPECT_EQ(drops.size(), 1U);
}

TEST(NftRules, WhatIsNoAnswerOfNftIsAnError) {
  EXPECT_FALSE(read_nft_rules(""));
  EXPECT_FALSE(read_nft_rules("[]"));
  EXPECT_FALSE(read_nft_rules(R"({"nftables":7})"));
  EXPECT_TRUE(read_nft_rules(R"({"nftables":[7,null,{"chain":7},{"rule":[]},{"a":1,"b":2}]})"));
}

TEST(NftRules, RulesThatNameThePortAreFoundWhateverElseTheyAsk) {
  const auto rules = read_nft_rules(fmt::format(
      R"({{"nftables":[{},{},{}]}})", nft_chain("input", "input", "accept"),
      nft_rule(
          "input",
          fmt::format(
              R"({{"match":{{"op":"==","left":{{"meta":{{"key":"iifname"}}}},"right":"eth7"}}}},{},{{"drop":null}})",
              port_match)),
      nft_rule("input", R"({"drop":null})")));
  ASSERT_TRUE(rules);
  const auto named = rules_that_name_roce(*rules);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].rule,
            "chain input of table inet f: meta iifname == eth7 udp dport == 4791 drop");
}

constexpr const char* iptables_input = R"(# Generated by iptables-save
*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:mine - [0:0]
-A INPUT -i lo -j ACCEPT
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -m comment --comment "udp --dport 4791 \"as if\"" -j ACCEPT
-A INPUT -j mine
-A mine -p udp -m multiport --dports 53,67:68 -j ACCEPT
COMMIT
)";

TEST(SavedRules, APolicyThatDropsIsToldWhereNoRuleCouldAccept) {
  const auto drops = roce_drops(read_saved_rules(iptables_input));
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].chain, "chain INPUT of table ip filter");
  EXPECT_EQ(drops[0].rule, "");
  for (const char* line :
       {"-A mine -p udp -m udp --dport 4791 -j ACCEPT\n", "-A mine -s 192.0.2.0/24 -j ACCEPT\n",
        "-A mine -m strange --anything -j ACCEPT\n", "-A mine -j NFQUEUE\n",
        "-A mine -j KNOWN-BY-NONE\n", "-A mine ! -p tcp -j ACCEPT\n",
        "-A mine -p udp -m udp --dport 4000:5000 -j ACCEPT\n"}) {
    EXPECT_TRUE(
        roce_drops(read_saved_rules(std::string(iptables_input) + "*filter\n" + line)).empty())
        << line;
  }
}

TEST(SavedRules, ARuleThatDropsIsTold) {
  const auto rules = read_saved_rules(
      "*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n"
      "-A OUTPUT -p udp -m udp --dport 4791 -j REJECT --reject-with icmp-port-unreachable\n"
      "-A INPUT -i eth7 -p udp -m udp --dport 4791 -j DROP\n");
  const auto drops = roce_drops(rules);
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].way, FilterWay::out);
  EXPECT_EQ(drops[0].rule,
            "chain OUTPUT of table ip filter: -p udp -m udp --dport 4791 -j REJECT --reject-with "
            "icmp-port-unreachable");
  EXPECT_EQ(rules_that_name_roce(rules).size(), 2U);
}

TEST(SavedRules, AnyTextIsTaken) {
  EXPECT_TRUE(read_saved_rules("").chains.empty());
  EXPECT_TRUE(read_saved_rules("\n:\n-A\n-A x\n*\n:a\n\"\n").chains.empty());
  EXPECT_EQ(read_saved_rules(":a -\n-A a -p\n-A a !\n-A a \"").chains.at(0).rules.size(), 3U);
}

}  // namespace
}  // namespace stoker::fabric
