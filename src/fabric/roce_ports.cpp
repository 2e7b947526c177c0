#include "fabric/roce_ports.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::fabric {
namespace {

void add_rules(const FilterRules& rules, FilterLook& look) {
  std::ranges::copy(roce_drops(rules), std::back_inserter(look.drops));
  std::ranges::copy(rules_that_name_roce(rules), std::back_inserter(look.named));
}

}  // namespace

FilterLook look_at_filter(std::string_view nft, const std::string& nft_reason,
                          std::string_view saved, const std::string& saved_reason) {
  FilterLook look;
  if (!nft_reason.empty()) {
    look.unread.push_back(fmt::format("nftables: {}", nft_reason));
  } else if (const auto rules = read_nft_rules(nft)) {
    add_rules(*rules, look);
  } else {
    look.unread.push_back(fmt::format("nftables: {}", rules.error().describe()));
  }
  if (!saved_reason.empty()) look.unread.push_back(fmt::format("old iptables: {}", saved_reason));
  add_rules(read_saved_rules(saved), look);
  return look;
}

const RoceNetdev* same_netdev(const RoceLook* look, const RoceNetdev& netdev) {
  if (look == nullptr) return nullptr;
  const auto found = std::ranges::find(look->netdevs, netdev.netdev, &RoceNetdev::netdev);
  return found == look->netdevs.end() ? nullptr : &*found;
}

std::vector<RoceCount> roce_counts(const RoceNetdev& before, const RoceNetdev& now) {
  std::vector<RoceCount> counts;
  for (const auto& [name, value] : now.counters) {
    const auto then = before.counters.find(name);
    if (then == before.counters.end() || !is_roce_counter(name)) continue;
    const auto counted = counted_between({.value = then->second}, {.value = value});
    if (counted.least > 0 || counted.fell) counts.push_back({name, counted});
  }
  return counts;
}

std::vector<const RdmaPort*> ports_on(const RoceNetdev& netdev, const RdmaPorts& ports) {
  std::vector<const RdmaPort*> out;
  for (const RdmaPort& port : ports.ports) {
    const bool same = std::ranges::find(netdev.devices, port.device) != netdev.devices.end();
    if (same && port.link_layer == "Ethernet") out.push_back(&port);
  }
  return out;
}

}  // namespace stoker::fabric
