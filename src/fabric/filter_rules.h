// Fabric analyzer: does the kernel's packet filter let RoCE v2 through, which is UDP to port 4791? Text in, verdict out. Only
// the packets of software RoCE (rdma_rxe) pass this filter: those of an adapter's own connections never do
// (roce_rules.def, filter_bypassed).
//
// A rule that can't be understood may match and may accept: what is told to be dropped has nothing before it that could
// accept it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::fabric {

inline constexpr unsigned roce_port = 4791;  // IANA, roce

// Whether a rule is for a packet of RoCE v2 from anybody.
enum class RuleMatch : std::uint8_t { no, maybe, yes };
// `unknown` may be any of them.
enum class RuleVerdict : std::uint8_t { none, accept, drop, jump, go_to, back, unknown };

struct FilterRule {
  RuleMatch match = RuleMatch::yes;
  bool names_port = false;  // it has 4791 in its destination ports
  RuleVerdict verdict = RuleVerdict::none;
  std::string target;  // of jump and go_to
  std::string text;    // as a person would find it: "udp dport 4791 drop"
};

enum class FilterWay : std::uint8_t { in, out };

struct FilterChain {
  std::string family;  // "ip", "ip6", "inet", "netdev"
  std::string table;
  std::string name;
  std::optional<FilterWay>
      way;             // of a chain that packets enter by themselves; nullopt: by jumps alone
  bool drops = false;  // its policy
  std::vector<FilterRule> rules;

  [[nodiscard]] std::string text() const;  // "chain input of table inet filter"
};

struct FilterRules {
  std::vector<FilterChain> chains;
};

// `nft -j list ruleset` (libnftables-json(5)). Errors: corrupt.
Result<FilterRules> read_nft_rules(std::string_view json);
// `iptables-save`, of IPv4 (iptables-save(8)). Lines that are none of its are left out.
FilterRules read_saved_rules(std::string_view text);

struct FilterDrop {
  std::string chain;  // FilterChain::text()
  std::string rule;   // empty: its policy
  FilterWay way = FilterWay::in;
  std::string family;
};

// What drops RoCE v2 from or to anybody, by chain. The policy of a chain counts where no rule of it, or of those that it
// jumps to, could accept such a packet.
std::vector<FilterDrop> roce_drops(const FilterRules& rules);
// Rules that drop what is sent to port 4791, of whatever else they ask.
std::vector<FilterDrop> rules_that_name_roce(const FilterRules& rules);

}  // namespace stoker::fabric
