#include "fabric/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stoker::fabric {
namespace {

constexpr std::array node_words = {"unknown", "adapter", "switch", "router"};
constexpr std::array link_words = {"unknown", "down", "initialize", "armed", "active"};
constexpr std::array physical_words = {"unknown",  "sleep",   "polling",        "disabled",
                                       "training", "link_up", "error_recovery", "test"};

template <typename T, std::size_t size>
T value_of(const std::array<const char*, size>& words, std::string_view word) {
  for (std::size_t i = 0; i < size; ++i) {
    if (word == words.at(i)) return static_cast<T>(i);
  }
  return T{};
}

}  // namespace

std::string guid_text(Guid guid) { return fmt::format("0x{:016x}", guid); }

const char* to_string(NodeKind kind) { return node_words.at(static_cast<std::size_t>(kind)); }
const char* to_string(LinkState state) { return link_words.at(static_cast<std::size_t>(state)); }
const char* to_string(PhysicalState state) {
  return physical_words.at(static_cast<std::size_t>(state));
}
NodeKind node_kind_of(std::string_view word) { return value_of<NodeKind>(node_words, word); }
LinkState link_state_of(std::string_view word) { return value_of<LinkState>(link_words, word); }
PhysicalState physical_state_of(std::string_view word) {
  return value_of<PhysicalState>(physical_words, word);
}

const Node* Sweep::node(Guid guid) const {
  const auto found = nodes.find(guid);
  return found == nodes.end() ? nullptr : &found->second;
}

const Port* Sweep::port(const PortName& name) const {
  const Node* its = node(name.node);
  if (its == nullptr) return nullptr;
  const auto found = its->ports.find(name.port);
  return found == its->ports.end() ? nullptr : &found->second;
}

std::string Sweep::name_of(Guid guid) const {
  const Node* its = node(guid);
  return its == nullptr || its->name.empty() ? guid_text(guid) : its->name;
}

Cable cable_of(const Sweep& sweep, const PortName& end, const PortName& peer) {
  const auto is_switch = [&](const PortName& name) {
    const Node* node = sweep.node(name.node);
    return node != nullptr && node->kind == NodeKind::switch_;
  };
  const bool one = is_switch(end);
  const bool other = is_switch(peer);
  const bool keep = one == other ? end <= peer : one;
  return keep ? Cable{end, peer} : Cable{peer, end};
}

std::vector<Cable> cables_of(const Sweep& sweep) {
  std::set<Cable> all;
  for (const auto& [guid, node] : sweep.nodes) {
    for (const auto& [number, port] : node.ports) {
      if (port.peer) all.insert(cable_of(sweep, {guid, number}, *port.peer));
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace stoker::fabric
