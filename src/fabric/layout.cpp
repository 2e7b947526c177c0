// Fabric analyzer: are the cables where the reference has them?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/signs.h"

namespace stoker::fabric {
namespace {

using Peers = std::map<PortName, PortName>;

// Nodes that are gone, and one that has come with the same name and kind: a device was replaced.
std::map<Guid, Guid> replaced_nodes(const Sweep& reference, const Sweep& now) {
  std::map<std::pair<std::string, NodeKind>, std::vector<Guid>> gone;
  std::map<std::pair<std::string, NodeKind>, std::vector<Guid>> come;
  for (const auto& [guid, node] : reference.nodes) {
    if (now.node(guid) == nullptr && !node.name.empty())
      gone[{node.name, node.kind}].push_back(guid);
  }
  for (const auto& [guid, node] : now.nodes) {
    if (reference.node(guid) == nullptr) come[{node.name, node.kind}].push_back(guid);
  }
  std::map<Guid, Guid> replaced;
  for (const auto& [key, guids] : gone) {
    const auto found = come.find(key);
    if (guids.size() == 1 && found != come.end() && found->second.size() == 1) {
      replaced.emplace(guids.front(), found->second.front());
    }
  }
  return replaced;
}

class LayoutComparison {
 public:
  explicit LayoutComparison(const Look& look) : look_(look), reference_(*look.reference()) {
    layout_.replaced = replaced_nodes(reference_, look.now);
    for (const auto& [guid, node] : reference_.nodes) {
      for (const auto& [number, port] : node.ports) {
        if (port.peer) were_.emplace(today({guid, number}), today(*port.peer));
      }
    }
  }

  Layout compare() && {
    for (const Cable& cable : cables_of(look_.now)) compare_present(cable);
    for (const auto& [end, peer] : were_) {
      if (end < peer || !were_.contains(peer)) compare_absent(end, peer);
    }
    return std::move(layout_);
  }

 private:
  [[nodiscard]] PortName today(PortName name) const {
    const auto found = layout_.replaced.find(name.node);
    if (found != layout_.replaced.end()) name.node = found->second;
    return name;
  }
  [[nodiscard]] std::optional<PortName> was(const PortName& end) const {
    const auto found = were_.find(end);
    return found == were_.end() ? std::nullopt : std::optional(found->second);
  }

  void compare_present(const Cable& cable) {
    const auto one = was(cable.one);
    const auto other = was(cable.other);
    if ((one && *one == cable.other) || (other && *other == cable.one)) return;
    if (!one && !other) {
      layout_.signs[cable].push_back(
          {.verdict = Verdict::appeared,
           .severity = Severity::info,
           .message =
               fmt::format("is new: {} has no cable at either port", look_.reference_text())});
      return;
    }
    Sign sign{.verdict = Verdict::wrong_port, .severity = Severity::error};
    sign.message = fmt::format("is not where {} has it", look_.reference_text());
    const auto add = [&](const PortName& end, const std::optional<PortName>& peer) {
      sign.evidence.push_back(fmt::format(
          "{}: to {}; in {}: {}", look_.end_text(end),
          look_.end_text(end == cable.one ? cable.other : cable.one), look_.reference_text(),
          peer ? "to " + look_.end_text(*peer) : std::string("no cable")));
    };
    add(cable.one, one);
    add(cable.other, other);
    layout_.signs[cable].push_back(std::move(sign));
  }

  // A cable of the reference that is not there, unless one of its ends has another now: that one's verdict says it.
  void compare_absent(const PortName& end, const PortName& peer) {
    const Port* here = look_.now.port(end);
    const Port* there = look_.now.port(peer);
    if ((here != nullptr && here->linked()) || (there != nullptr && there->linked())) return;
    const bool end_seen = look_.now.node(end.node) != nullptr;
    const bool peer_seen = look_.now.node(peer.node) != nullptr;
    if (!end_seen && !peer_seen) return;  // behind something that is told
    const Sweep& knows = end_seen && peer_seen ? look_.now : reference_;
    const Cable cable = cable_of(knows, end, peer);
    Sign sign = sign_of_absent(here, there);
    if (!end_seen) sign.blamed.push_back(end.node);
    if (!peer_seen) sign.blamed.push_back(peer.node);
    add_states(sign, end, here);
    add_states(sign, peer, there);
    layout_.signs[cable].push_back(std::move(sign));
  }

  static Sign sign_of_absent(const Port* here, const Port* there) {
    const auto up = [](const Port* port) {
      return port != nullptr && port->physical == PhysicalState::link_up;
    };
    if (up(here) || up(there)) {
      return {.verdict = Verdict::unread, .message = "is up and its other end does not answer"};
    }
    const auto unread = [](const Port* port) { return port != nullptr && !port->unread.empty(); };
    if (unread(here) || unread(there)) {
      return {.verdict = Verdict::unread, .message = "was not read"};
    }
    return {.verdict = Verdict::down, .severity = Severity::error, .message = "is down"};
  }

  void add_states(Sign& sign, const PortName& end, const Port* port) const {
    if (port == nullptr) {
      sign.evidence.push_back(fmt::format("{}: not seen by this sweep", look_.end_text(end)));
    } else if (!port->unread.empty()) {
      sign.evidence.push_back(fmt::format("{}: not read ({})", look_.end_text(end), port->unread));
    } else {
      sign.evidence.push_back(fmt::format("{}: {}, {}", look_.end_text(end), to_string(port->state),
                                          to_string(port->physical)));
    }
  }

  const Look& look_;
  const Sweep& reference_;
  Layout layout_;
  Peers were_;  // in today's GUIDs
};

}  // namespace

Layout compare_layout(const Look& look) {
  if (look.reference() == nullptr) return {};
  return LayoutComparison(look).compare();
}

}  // namespace stoker::fabric
