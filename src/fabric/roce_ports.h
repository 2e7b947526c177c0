// Fabric analyzer: are a node's RoCE ports set up not to lose packets, and do they lose some? Pure: no clock, no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fabric/counter.h"
#include "fabric/filter_rules.h"
#include "model/finding.h"
#include "model/rdma_port.h"
#include "model/roce.h"

namespace stoker::fabric {

// Has the counter of `ethtool -S` a row in roce_counters.def?
bool is_roce_counter(std::string_view name);

// What the kernel's packet filter does to RoCE v2.
struct FilterLook {
  std::vector<FilterDrop> drops;    // for anybody's packets (roce_drops)
  std::vector<FilterDrop> named;    // rules for that port (rules_that_name_roce)
  std::vector<std::string> unread;  // "nft is not installed"; empty: all of it was looked at
};
// `nft`: what `nft -j list ruleset` prints, `saved`: what iptables-legacy-save does, each with why there is none.
FilterLook look_at_filter(std::string_view nft, const std::string& nft_reason,
                          std::string_view saved, const std::string& saved_reason);

// One look at a node, or two. Those that are pointers may be absent.
struct RoceLooks {
  const RdmaPorts& ports;
  const RoceLook& roce;
  const RdmaPorts* ports_before = nullptr;
  const RoceLook* roce_before = nullptr;
  const FilterLook* filter = nullptr;
};

// Worst first. Without an earlier look no counter is judged: what they hold has no time.
std::vector<Finding> judge_roce(const RoceLooks& looks);

// The same network device at another look; nullptr: it was not there, or there is no other look.
const RoceNetdev* same_netdev(const RoceLook* look, const RoceNetdev& netdev);

struct RoceCount {
  std::string name;
  Counted counted;
};
// Counters of both looks that moved or fell, by name.
std::vector<RoceCount> roce_counts(const RoceNetdev& before, const RoceNetdev& now);

// "PFC 3, ECN 3, DSCP trusted" of a port's network device; what is not known is left out, but PFC, of which why is said.
std::string roce_text(const RoceNetdev& netdev, const std::vector<const RdmaPort*>& ports);

// The ports that stand on `netdev`.
std::vector<const RdmaPort*> ports_on(const RoceNetdev& netdev, const RdmaPorts& ports);

}  // namespace stoker::fabric
