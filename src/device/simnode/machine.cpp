#include "device/simnode/machine.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/closest.h"
#include "base/text.h"
#include "catalog/yaml/map_reader.h"
#include "device/sim/load_model.h"
#include "device/simnode/loads.h"

namespace stoker::simnode {
namespace {

using yaml::MapReader;
using yaml::Need;
using yaml::Node;

constexpr unsigned max_gpus = sim::max_gpus;
constexpr unsigned max_cpu = 1023;  // what the state's affinity masks hold

std::optional<unsigned> parse_cpu(std::string_view text) {
  const auto cpu = whole_number<unsigned>(text);
  return cpu && *cpu <= max_cpu ? cpu : std::nullopt;
}

// "0-27,56-83" as the kernel writes it.
std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto dash = part.find('-');
    const auto first = parse_cpu(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_cpu(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus.empty() ? std::nullopt : std::optional(cpus);
}

class MachineParser {
 public:
  MachineParser(const std::string& file, const std::string& catalog_folder)
      : problems_(file), catalog_folder_(catalog_folder) {}

  Result<Machine> parse(const Node& root, const std::string& name) {
    machine_.name = name;
    MapReader map(root, "", problems_);
    map.text("description", machine_.description);
    map.text("driver", machine_.driver_version, Need::required);
    map.number("cuda", machine_.cuda_version, 9000, 99990, Need::required);
    map.flag("virtual", machine_.virtual_machine);
    std::size_t costs = 0;
    map.word("costs", {"free", "captured"}, costs);
    machine_.captured_costs = costs == 1;
    machine_.load = load_of(map, "idle");
    read_numa(map);
    read_nvlink(map);
    map.each("gpus", Need::required,
             [&](const Node& node, const std::string& what) { read_gpu(node, what); });
    map.each("nics", Need::optional,
             [&](const Node& node, const std::string& what) { read_nic(node, what); });
    map.each("pcie", Need::optional,
             [&](const Node& node, const std::string& what) { read_bridges(node, what); });
    check_gpus(map);
    map.finish();
    if (!problems_.none()) return fail(problems_.error());
    return std::move(machine_);
  }

 private:
  std::string load_of(MapReader& map, const std::string& otherwise) {
    std::string load = otherwise;
    const Node* node = map.find("load");
    if (node == nullptr || node->empty()) return load;
    if (!find_load(node->text)) {
      problems_.add(node->place, map.name("load") + " has to be one of " + listed(load_names()) +
                                     ", not '" + node->text + "'");
      return load;
    }
    return node->text;
  }

  void read_numa(MapReader& map) {
    map.each("numa", Need::required, [&](const Node& node, const std::string& what) {
      const auto cpus = parse_cpu_list(node.text);
      if (!cpus) {
        problems_.add(node.place, what + " has to be a list of CPUs like 0-31 or 0-15,32-47");
      }
      machine_.numa_cpus.push_back(cpus.value_or(std::vector<unsigned>{}));
      machine_.numa_lists.push_back(node.text);
    });
  }

  void read_nvlink(MapReader& map) {
    const Node* node = map.find("nvlink");
    if (node == nullptr || node->empty()) return;
    MapReader link(*node, "nvlink", problems_);
    std::size_t kind = 0;
    link.word("kind", {"none", "nvswitch", "peers"}, kind, Need::required);
    machine_.nvlink = static_cast<NvLinkKind>(kind);
    link.each("switches", Need::optional, [&](const Node& item, const std::string& what) {
      if (auto pci = address(item, what)) machine_.switches.push_back(*pci);
    });
    link.number("switch_device_id", machine_.switch_device_id, 1, 0xFFFFFFFF);
    link.flag("fabric", machine_.fabric);
    link.text("cluster_uuid", machine_.cluster_uuid);
    link.finish();
  }

  std::optional<PciAddress> address(const Node& node, const std::string& what) {
    const auto pci = PciAddress::parse(node.text);
    if (!pci) {
      problems_.add(node.place,
                    what + " has to be a PCI address like 0000:1b:00.0, not '" + node.text + "'");
      return std::nullopt;
    }
    if (!addresses_.insert(*pci).second) {
      problems_.add(node.place, what + " is " + pci->sysfs() + ", which another device has");
    }
    return *pci;
  }

  void read_place(MapReader& map, PciAddress& pci, unsigned& numa) {
    if (const Node* node = map.need("pci")) pci = address(*node, map.name("pci")).value_or(pci);
    const auto nodes = static_cast<std::int64_t>(machine_.numa_cpus.size());
    map.number("numa", numa, 0, std::max<std::int64_t>(nodes - 1, 0), Need::required);
  }

  void read_gpu(const Node& node, const std::string& what) {
    MapReader map(node, what, problems_);
    MachineGpu gpu;
    const Node* product = map.need("product");
    if (product != nullptr) {
      gpu.product = product->text;
      need_product(*product, what);
    }
    read_place(map, gpu.pci, gpu.numa);
    gpu.module = static_cast<unsigned>(machine_.gpus.size()) + 1;
    map.number("module", gpu.module, 0, 255);
    gpu.load = load_of(map, "");
    map.texts("mig", gpu.instances);
    check_mig(map, gpu);
    map.finish();
    machine_.gpus.push_back(std::move(gpu));
  }

  void need_product(const Node& node, const std::string& what) {
    if (machine_.products.contains(node.text) || refused_.contains(node.text)) return;
    auto product = catalog::load_product(node.text, catalog_folder_);
    if (product) {
      machine_.products.emplace(node.text, std::move(*product));
      return;
    }
    refused_.insert(node.text);
    problems_.add(node.place, what + ".product: " + product.error().message());
  }

  void check_mig(MapReader& map, const MachineGpu& gpu) {
    const auto product = machine_.products.find(gpu.product);
    if (gpu.instances.empty() || product == machine_.products.end()) return;
    const Node& list = *map.find("mig");
    if (!product->second.mig) {
      problems_.add(list.place, map.name("mig") + ": " + gpu.product + " has no MIG");
      return;
    }
    std::vector<std::string> names;
    for (const auto& profile : product->second.mig->profiles) names.push_back(profile.name);
    for (const Node& item : list.items) {
      if (std::find(names.begin(), names.end(), item.text) != names.end()) continue;
      problems_.add(item.place, map.name("mig") + ": " + gpu.product + " has no MIG profile '" +
                                    item.text + "'; there are " +
                                    listed(closest_first(item.text, names)));
    }
  }

  void read_nic(const Node& node, const std::string& what) {
    MapReader map(node, what, problems_);
    MachineNic nic;
    map.text("name", nic.name, Need::required);
    map.text("netdev", nic.netdev);
    read_place(map, nic.pci, nic.numa);
    std::size_t layer = 0;
    map.word("link_layer", {"InfiniBand", "Ethernet"}, layer, Need::required);
    nic.ethernet = layer == 1;
    map.number("gbps", nic.rate_gbps, 1, 1600, Need::required);
    map.finish();
    const bool plain = !nic.name.empty() && nic.name.find_first_of("/. ") == std::string::npos &&
                       nic.netdev.find_first_of("/. ") == std::string::npos;
    if (!plain) map.problem(node.place, what + ".name and netdev have to be plain words");
    if (!nic_names_.insert(nic.name).second) {
      map.problem(node.place, what + ".name: another NIC is called " + nic.name);
    }
    machine_.nics.push_back(std::move(nic));
  }

  // The bridges of the GPU or NIC at `pci`; nullptr: there is no such device.
  std::vector<PciAddress>* bridges_of(const PciAddress& pci) {
    const auto gpu = std::ranges::find(machine_.gpus, pci, &MachineGpu::pci);
    if (gpu != machine_.gpus.end()) return &gpu->bridges;
    const auto nic = std::ranges::find(machine_.nics, pci, &MachineNic::pci);
    return nic == machine_.nics.end() ? nullptr : &nic->bridges;
  }

  void read_bridges(const Node& node, const std::string& what) {
    MapReader map(node, what, problems_);
    const Node* device = map.need("device");
    const auto pci =
        device == nullptr ? Result<PciAddress>(PciAddress{}) : PciAddress::parse(device->text);
    auto* bridges = device == nullptr || !pci ? nullptr : bridges_of(*pci);
    if (device != nullptr && bridges == nullptr) {
      problems_.add(device->place, what + ".device has to be the address of a GPU or NIC, not '" +
                                       device->text + "'");
    }
    map.each("behind", Need::required, [&](const Node& item, const std::string& name) {
      const auto bridge = PciAddress::parse(item.text);
      if (!bridge || addresses_.contains(*bridge)) {
        problems_.add(item.place, name +
                                      " has to be the PCI address of a bridge, like "
                                      "0000:15:01.0, not '" +
                                      item.text + "'");
      } else if (bridges != nullptr) {
        bridges->push_back(*bridge);
      }
    });
    map.finish();
  }

  void check_gpus(MapReader& map) {
    if (machine_.gpus.size() > max_gpus) {
      map.problem(map.place(), "gpus lists " + std::to_string(machine_.gpus.size()) +
                                   "; a simulated machine holds " + std::to_string(max_gpus));
    }
    if (machine_.nvlink == NvLinkKind::none) return;
    for (const auto& [id, product] : machine_.products) {
      if (product.nvlink) continue;
      map.problem(map.find("nvlink")->place, "nvlink.kind: " + id + " has no NVLink; say none");
    }
  }

  yaml::Problems problems_;
  const std::string& catalog_folder_;
  Machine machine_;
  std::set<PciAddress> addresses_;
  std::set<std::string> nic_names_;
  std::set<std::string> refused_;
};

}  // namespace

PciPath path_of(const PciAddress& device, const std::vector<PciAddress>& bridges) {
  PciPath path{.root_domain = device.domain, .bridges = bridges, .device = device};
  if (bridges.empty() && device.bus > 0) {
    const auto root_bus = static_cast<std::uint8_t>(device.bus - 1);
    path.bridges.push_back({device.domain, root_bus, 1, 0});
  }
  if (path.bridges.empty()) return path;
  path.root_domain = path.bridges.front().domain;
  path.root_bus = path.bridges.front().bus;
  return path;
}

Result<Machine> parse_machine(std::string_view text, const std::string& file,
                              const std::string& name, const std::string& catalog_folder) {
  const auto root = yaml::parse(text, file);
  if (!root) return fail(root.error());
  return MachineParser(file, catalog_folder).parse(*root, name);
}

Result<Machine> load_machine(const std::string& file, const std::string& catalog_folder) {
  const auto text = yaml::read_text(file);
  if (!text) return fail(text.error());
  return parse_machine(*text, file, std::filesystem::path(file).stem().string(), catalog_folder);
}

}  // namespace stoker::simnode
