// Topology: the PCIe devices of one NUMA node as lines of a tree. Internal to src/topology.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/pci_path.h"

namespace stoker::topology {

// A device, a bridge or the top. Bridges that lead to one thing alone are left out of the lines: what
// counts is where ways part.
class PcieTree {
 public:
  // `text` is what stands behind the device's place in the tree.
  void add(const PciPath& path, std::string text);
  // Lines without a line break, the first columns drawn with box characters.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Node {
    std::string name;  // "pci0000:15", "0000:16:00.0"
    std::string text;  // of a device; empty for a bridge
    std::map<std::string, std::unique_ptr<Node>> children;
  };
  static Node& child(Node& parent, const std::string& name);
  static void draw(const Node& node, const std::string& margin, std::vector<std::string>& out);
  static std::string label(const Node*& node);

  Node top_;
};

}  // namespace stoker::topology
