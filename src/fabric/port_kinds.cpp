#include "fabric/port_kinds.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace stoker::fabric {
namespace {

bool has_ecn(const RdmaPort& port) {
  const auto is_on = [](const auto& entry) { return entry.second; };
  return std::ranges::any_of(port.ecn_notices, is_on) ||
         std::ranges::any_of(port.ecn_reacts, is_on);
}

// What more than half of the linked ports of `port`'s kind have; nullopt: there is no such value.
template <typename Value, typename Of>
std::optional<Value> usual(std::span<const RdmaPort> ports, const RdmaPort& port, Of value_of) {
  std::map<Value, std::size_t> votes;
  std::size_t all = 0;
  for (const RdmaPort& other : ports) {
    if (!same_kind(port, other) || !is_linked(other)) continue;
    ++all;
    if (const std::optional<Value> value = value_of(other)) ++votes[*value];
  }
  for (const auto& [value, count] : votes) {
    if (count * 2 > all) return value;
  }
  return std::nullopt;
}

}  // namespace

bool is_linked(const RdmaPort& port) { return port.physical == "LinkUp" && port.state != "DOWN"; }

bool is_down(const RdmaPort& port) {
  return port.state == "DOWN" || (!port.physical.empty() && port.physical != "LinkUp");
}

bool same_kind(const RdmaPort& one, const RdmaPort& other) {
  return one.model == other.model && one.board == other.board && one.link_layer == other.link_layer;
}

// drivers/infiniband/core/sysfs.c, rate_show
double gbps_of(const std::string& rate) {
  double gbps = 0;
  std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
  return gbps;
}

bool has_routable_gid(const RdmaPort& port) {
  return std::ranges::any_of(port.gids, [](const RdmaGid& gid) {
    return gid.type == "RoCE v2" && !gid.gid.starts_with("fe80");
  });
}

PortKinds::Share PortKinds::up(const RdmaPort& port) const {
  Share share;
  for (const RdmaPort& other : ports_) {
    if (!same_kind(port, other)) continue;
    ++share.ports;
    share.so += is_linked(other) ? 1 : 0;
  }
  return share;
}

std::optional<std::string> PortKinds::rate_of_most(const RdmaPort& port) const {
  return usual<std::string>(ports_, port, [](const RdmaPort& other) {
    return other.rate.empty() ? std::nullopt : std::optional(other.rate);
  });
}

std::optional<std::string> PortKinds::usual_rate(const RdmaPort& port) const {
  if (!is_linked(port) || port.rate.empty()) return std::nullopt;
  auto rate = rate_of_most(port);
  if (!rate || gbps_of(port.rate) >= gbps_of(*rate)) return std::nullopt;
  return rate;
}

std::optional<unsigned> PortKinds::usual_mtu(const RdmaPort& port) const {
  if (!port.mtu) return std::nullopt;
  const auto mtu = usual<unsigned>(ports_, port, [](const RdmaPort& other) { return other.mtu; });
  return mtu && *mtu != *port.mtu ? mtu : std::nullopt;
}

bool PortKinds::lacks_ecn(const RdmaPort& port) const {
  if ((port.ecn_notices.empty() && port.ecn_reacts.empty()) || has_ecn(port)) return false;
  return usual<bool>(ports_, port,
                     [](const RdmaPort& other) -> std::optional<bool> { return has_ecn(other); })
      .value_or(false);
}

}  // namespace stoker::fabric
