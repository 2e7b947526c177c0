#include "fabric/roce_peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fabric/port_kinds.h"
#include "fabric/roce_settings.h"
#include "fabric/roce_tables.h"

namespace stoker::fabric {
namespace {

struct Peer {
  const RoceNetdev* netdev = nullptr;
  std::vector<const RdmaPort*> ports;
  std::vector<RoceSetting> settings;
};

// Those that have a link, by model: what others have set says nothing of another kind of card.
std::map<std::string, std::vector<Peer>> linked_peers(const RoceLooks& looks) {
  std::map<std::string, std::vector<Peer>> by_model;
  for (const RoceNetdev& netdev : looks.roce.netdevs) {
    auto ports = ports_on(netdev, looks.ports);
    const bool linked =
        std::ranges::any_of(ports, [](const RdmaPort* port) { return is_linked(*port); });
    if (!linked || netdev.software) continue;
    auto settings = settings_of(netdev, ports);
    const std::string model = ports[0]->model;
    by_model[model].push_back({&netdev, std::move(ports), std::move(settings)});
  }
  return by_model;
}

// What more than half of `peers` have for `name`; empty: there is no such value.
std::string usual_setting(const std::vector<Peer>& peers, std::string_view name) {
  std::map<std::string, std::size_t> votes;
  for (const Peer& peer : peers) {
    for (const RoceSetting& setting : peer.settings) {
      if (setting.name == name) ++votes[setting.value];
    }
  }
  for (const auto& [value, count] : votes) {
    if (count * 2 > peers.size()) return value;
  }
  return {};
}

}  // namespace

std::string roce_entity(const RoceNetdev& netdev, const std::vector<const RdmaPort*>& ports) {
  return ports.empty() ? netdev.netdev : fmt::format("{}/{}", ports[0]->device, ports[0]->port);
}

void judge_roce_peers(const RoceLooks& looks, std::vector<Finding>& out) {
  for (const auto& [model, peers] : linked_peers(looks)) {
    for (const Peer& peer : peers) {
      std::vector<std::string> others;
      for (const RoceSetting& setting : peer.settings) {
        const auto usual = usual_setting(peers, setting.name);
        // ECN has a rule of its own for the port that has none (port_rules.def).
        if (usual.empty() || usual == setting.value ||
            (setting.name == "ECN" && setting.value == "none")) {
          continue;
        }
        others.push_back(fmt::format("{} {} (most: {})", setting.name, setting.value, usual));
      }
      if (others.empty()) continue;
      auto message = fmt::format("{} ({}): {}", peer.netdev->netdev,
                                 fmt::join(peer.netdev->devices, ", "), fmt::join(others, "; "));
      out.push_back(roce_finding(RoceRule::differs, roce_entity(*peer.netdev, peer.ports),
                                 std::move(message), std::move(others)));
    }
  }
}

void judge_bypassed_filter(const RoceLooks& looks, std::vector<Finding>& out) {
  if (looks.filter == nullptr || looks.filter->named.empty()) return;
  const auto hardware = std::ranges::find_if(looks.roce.netdevs, [&](const RoceNetdev& netdev) {
    if (netdev.software) return false;
    const auto on = ports_on(netdev, looks.ports);
    return std::ranges::any_of(on, [](const RdmaPort* port) {
      return std::ranges::find(port->gids, "RoCE v2", &RdmaGid::type) != port->gids.end();
    });
  });
  if (hardware == looks.roce.netdevs.end()) return;
  std::vector<std::string> evidence;
  evidence.reserve(looks.filter->named.size());
  for (const FilterDrop& rule : looks.filter->named) evidence.push_back(rule.rule);
  const auto ports = ports_on(*hardware, looks.ports);
  out.push_back(roce_finding(
      RoceRule::filter_bypassed, roce_entity(*hardware, ports),
      fmt::format("the kernel's packet filter has {} for UDP to port {}, which {} never shows it",
                  evidence.size() == 1 ? "a rule" : "rules", roce_port,
                  fmt::join(hardware->devices, ", ")),
      std::move(evidence)));
}

}  // namespace stoker::fabric
