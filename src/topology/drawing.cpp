#include "topology/drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/wrap.h"
#include "topology/advice.h"
#include "topology/pcie_tree.h"

namespace stoker::topology {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t name_width = 7;

std::string fitted(const std::string& line) { return cut_end(line, width) + "\n"; }

// Wrapped behind `head`, which the lines that follow leave room for.
std::string paragraph(const std::string& head, const std::string& text) {
  std::string out;
  const std::string room(columns(head), ' ');
  for (const std::string& line : wrap(text, width - columns(head))) {
    out += fitted((out.empty() ? head : room) + line);
  }
  return out;
}

std::string short_name(const std::string& name) {
  constexpr std::string_view maker = "NVIDIA ";
  return name.starts_with(maker) ? name.substr(maker.size()) : name;
}

std::string text_of(const GpuNode& gpu) {
  std::string text = fmt::format("{} {}  {}", pad(fmt::format("GPU{}", gpu.index), name_width),
                                 gpu.pci.sysfs(), short_name(gpu.name));
  if (gpu.pcie_width) text += fmt::format(", x{}", *gpu.pcie_width);
  if (gpu.links > 0) {
    text += gpu.links_up ? fmt::format(", {}/{} NVLinks", *gpu.links_up, gpu.links)
                         : fmt::format(", ?/{} NVLinks", gpu.links);
  }
  return gpu.state == "present" ? text : text + ", " + gpu.state;
}

std::string text_of(const NicNode& nic) {
  std::string text =
      fmt::format("{} {}  {}", pad(nic.name, name_width), nic.pci ? nic.pci->sysfs() : "-",
                  nic.link_layer.empty() ? "?" : nic.link_layer);
  if (nic.rate_gbps) text += fmt::format(" {} Gb/s", *nic.rate_gbps);
  return text + ", " + (nic.port_state.empty() ? "port ?" : nic.port_state);
}

std::string title(const Topology& topology) {
  const auto count = [](std::size_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  return fitted(fmt::format("{}: {}, {}{}", topology.hostname, count(topology.gpus.size(), "GPU"),
                            count(topology.nics.size(), "NIC"),
                            topology.simulated ? ", SIMULATED" : ""));
}

struct NumaNode {
  PcieTree tree;
  std::string cpus;
};

// Devices below the NUMA node that is near them, then those of which sysfs says nothing.
std::string pcie(const Topology& topology) {
  std::map<int, NumaNode> nodes;
  std::string nowhere;
  const auto place = [&](const auto& device) {
    if (device.path) {
      nodes[device.numa_node].tree.add(*device.path, text_of(device));
    } else {
      nowhere += fitted("   " + text_of(device));
    }
  };
  for (const GpuNode& gpu : topology.gpus) {
    place(gpu);
    if (gpu.path && !gpu.cpus.empty()) nodes[gpu.numa_node].cpus = gpu.cpus;
  }
  for (const NicNode& nic : topology.nics) place(nic);
  std::string out;
  for (const auto& [number, node] : nodes) {
    const std::string name = number < 0 ? "No NUMA node" : fmt::format("NUMA node {}", number);
    out += "\n" + fitted(node.cpus.empty() ? name : name + ", CPUs " + node.cpus);
    for (const std::string& line : node.tree.lines()) out += fitted(line);
  }
  return nowhere.empty() ? out : out + "\nPlace not known\n" + nowhere;
}

using Pairs = std::map<std::string, std::vector<std::string>>;  // word -> "GPU0-GPU1", ...

Pairs pairs_of(const Topology& topology) {
  Pairs pairs;
  for (std::size_t one = 0; one < topology.gpus.size(); ++one) {
    for (std::size_t other = one + 1; other < topology.gpus.size(); ++other) {
      pairs[topology.between_gpus(one, other).word()].push_back(row_name(topology, one) + "-" +
                                                                row_name(topology, other));
    }
  }
  return pairs;
}

// What most pairs have in one sentence, then those that differ.
std::string between_gpus(const Topology& topology) {
  const Pairs pairs = pairs_of(topology);
  if (pairs.empty()) return "";
  const auto usual =
      std::ranges::max_element(pairs, {}, [](const auto& entry) { return entry.second.size(); });
  std::string text = pairs.size() == 1
                         ? fmt::format("{} between every two", usual->first)
                         : fmt::format("{} between every two but these", usual->first);
  std::string out = "\n" + paragraph("GPU to GPU   ", text);
  for (const auto& [word, those] : pairs) {
    if (word == usual->first) continue;
    out += paragraph(fmt::format("  {} ", pad(word, 10)), fmt::format("{}", fmt::join(those, " ")));
  }
  return out;
}

std::string names_of(const Topology& topology, const NicChoice& choice) {
  std::vector<std::string> names;
  names.reserve(choice.nics.size());
  for (const std::size_t nic : choice.nics) names.push_back(topology.nics[nic].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A line that can be pasted; the shell joins what a backslash breaks.
std::string setting(const std::string& value) {
  std::string out;
  std::string line = "NCCL_IB_HCA=";
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = std::min(value.find(',', at), value.size() - 1) + 1;
    if (line.size() + end - at >= width) {
      out += line + "\\\n";
      line.clear();
    }
    line += value.substr(at, end - at);
    at = end;
  }
  return out + line + "\n";
}

std::string nics(const Topology& topology) {
  if (topology.nics.empty()) return "";
  std::string out = "\nNIC of each GPU (nearest with an active port)\n";
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    const auto choice = nearest_nics(topology, gpu);
    const std::string head = fmt::format("  {} ", pad(row_name(topology, gpu), name_width));
    out += choice.nics.empty()
               ? paragraph(head, "none")
               : paragraph(fmt::format("{}{} ", head, pad(to_string(choice.distance), 5)),
                           names_of(topology, choice));
  }
  const std::string value = nccl_ib_hca(topology);
  return value.empty() ? out : out + "For NCCL to use these alone:\n" + setting(value);
}

std::string odd(const Topology& topology) {
  std::string out;
  for (const Remark& remark : remarks(topology)) {
    out += paragraph(fmt::format("  {} ", pad(remark.about, name_width)), remark.message);
  }
  return out.empty() ? out : "\nOdd\n" + out;
}

}  // namespace

std::string drawing(const Topology& topology) {
  return title(topology) + pcie(topology) + between_gpus(topology) + nics(topology) + odd(topology);
}

}  // namespace stoker::topology
