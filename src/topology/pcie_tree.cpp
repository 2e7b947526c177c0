#include "topology/pcie_tree.h"

#include <algorithm>

namespace stoker::topology {

PcieTree::Node& PcieTree::child(Node& parent, const std::string& name) {
  auto& slot = parent.children[name];
  if (!slot) slot = std::make_unique<Node>(Node{.name = name});
  return *slot;
}

void PcieTree::add(const PciPath& path, std::string text) {
  Node* at = &child(top_, path.root());
  for (const PciAddress& bridge : path.bridges) at = &child(*at, bridge.sysfs());
  child(*at, path.device.sysfs()).text = std::move(text);
}

// What to call `node`; a way that does not part is followed to its end, which `node` is then.
std::string PcieTree::label(const Node*& node) {
  std::string first = node->name;
  const bool is_root = first.starts_with("pci");
  while (node->text.empty() && node->children.size() == 1) {
    node = node->children.begin()->second.get();
  }
  if (!node->text.empty()) return is_root ? first + " ─ " + node->text : node->text;
  if (node->name == first && is_root) return first;
  // The ports of a switch are bridges too; functions of one card are none.
  const bool is_switch = std::ranges::any_of(
      node->children, [](const auto& entry) { return entry.second->text.empty(); });
  const std::string own = (is_switch ? "switch " : "bridge ") + node->name;
  return is_root ? first + " ─ " + own : own;
}

void PcieTree::draw(const Node& node, const std::string& margin, std::vector<std::string>& out) {
  std::size_t left = node.children.size();
  for (const auto& [name, below] : node.children) {
    const bool last = --left == 0;
    const Node* end = below.get();
    std::string line = margin;
    line += last ? "└─ " : "├─ ";
    line += label(end);
    out.push_back(std::move(line));
    std::string below_margin = margin;
    below_margin += last ? "   " : "│  ";
    draw(*end, below_margin, out);
  }
}

std::vector<std::string> PcieTree::lines() const {
  std::vector<std::string> out;
  draw(top_, "", out);
  return out;
}

}  // namespace stoker::topology
