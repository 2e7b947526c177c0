#include "fabric/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/wrap.h"

namespace stoker::fabric {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t word_width = 14;   // "not configured"
constexpr std::size_t most_cables = 16;  // of one node

struct DrawnCable {
  PortName here;
  PortName there;
  Verdict verdict;
};

std::string end_text(const Judged& judged, const PortName& end) {
  if (end.node == 0) return "?";
  return fmt::format("{} port {}", judged.names.at(end.node), end.port);
}

// "port 7 ─ 4X HDR ─ bad           ─ S-spine port 1".
std::string cable_text(const Sweep& now, const Judged& judged, const DrawnCable& cable) {
  const Port* port = now.port(cable.here);
  const bool up = port != nullptr && port->physical == PhysicalState::link_up;
  return fmt::format("port {} ─ {} ─ {} ─ {}", pad(std::to_string(cable.here.port), 3),
                     pad(up ? to_string(port->rate) : "no link", 7),
                     pad(row_of(cable.verdict).word, word_width), end_text(judged, cable.there));
}

std::size_t cables_at(const Sweep& now, Guid guid) {
  const Node* node = now.node(guid);
  if (node == nullptr) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(node->ports, [](const auto& each) { return each.second.linked(); }));
}

std::string draw_node(const Sweep& now, const Judged& judged, Guid guid,
                      const std::vector<DrawnCable>& cables) {
  std::string out = cut_end(fmt::format("{}  {}{}", judged.names.at(guid), guid_text(guid),
                                        now.node(guid) == nullptr ? "  not seen" : ""),
                            width) +
                    "\n";
  std::vector<std::string> lines;
  std::size_t affected = 0;
  for (const DrawnCable& cable : cables) {
    const Port* port = now.port(cable.here);
    if (port != nullptr && port->linked()) ++affected;
    if (lines.size() < most_cables) lines.push_back(cable_text(now, judged, cable));
  }
  if (cables.size() > most_cables) {
    lines.push_back(fmt::format("… {} more like these", cables.size() - most_cables));
  }
  const std::size_t all = cables_at(now, guid);
  if (all > affected) {
    lines.push_back(
        fmt::format("{} other cable{}", all - affected, all - affected == 1 ? "" : "s"));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += cut_end((i + 1 == lines.size() ? "└─ " : "├─ ") + lines[i], width) + "\n";
  }
  return out;
}

}  // namespace

std::string drawing(const Sweep& now, const Judged& judged, Severity least) {
  std::map<Guid, std::vector<DrawnCable>> nodes;
  for (const Told& told : judged.told) {
    if (told.finding.severity < least) continue;
    for (const Cable& cable : told.cables) {
      nodes[cable.one.node].push_back({cable.one, cable.other, told.verdict});
    }
  }
  std::string out;
  for (auto& [guid, cables] : nodes) {
    std::ranges::sort(cables, {}, &DrawnCable::here);
    out += (out.empty() ? "" : "\n") + draw_node(now, judged, guid, cables);
  }
  return out;
}

}  // namespace stoker::fabric
