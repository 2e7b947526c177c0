#include "topology/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace stoker::topology {
namespace {

using device::LinkEnd;
using store::GpuSnapshot;
using store::Snapshot;

// Is this link up? Nothing where that is not known now.
std::optional<bool> is_up(const GpuSnapshot& gpu, std::uint32_t link) {
  const auto readings = gpu.nvlinks.find(link);
  if (readings == gpu.nvlinks.end()) return std::nullopt;
  const Reading state = readings->second.get(FieldId::nvlink_state);
  if (!state.ok()) return std::nullopt;
  return as_double(state.value) != 0;
}

// The links of `gpu` that are up and end where `wanted` says; nothing if one of them is not known.
template <typename Wanted>
std::optional<unsigned> count_up(const GpuSnapshot& gpu, Wanted wanted) {
  unsigned up = 0;
  for (const device::NvLinkInfo& link : gpu.info.nvlinks) {
    if (!wanted(link)) continue;
    const auto state = is_up(gpu, link.link);
    if (!state) return std::nullopt;
    up += *state ? 1U : 0U;
  }
  return up;
}

// Why count_up() has nothing to tell of all links; ok where it has.
Reason why_not_counted(const GpuSnapshot& gpu) {
  for (const device::NvLinkInfo& link : gpu.info.nvlinks) {
    if (is_up(gpu, link.link)) continue;
    const auto readings = gpu.nvlinks.find(link.link);
    return readings == gpu.nvlinks.end() ? Reason::pending
                                         : readings->second.get(FieldId::nvlink_state).reason;
  }
  return Reason::ok;
}

std::optional<unsigned> to_switch(const GpuSnapshot& gpu) {
  return count_up(gpu, [](const auto& link) { return link.remote == LinkEnd::nvswitch; });
}

std::optional<unsigned> straight(const GpuSnapshot& from, const GpuSnapshot& to) {
  const std::string target = to.info.pci.sysfs();
  return count_up(from, [&](const auto& link) { return link.remote_pci == target; });
}

// Links that join the two, straight or through NVSwitches; as many as the poorer end has.
std::optional<unsigned> links_between(const GpuSnapshot& one, const GpuSnapshot& other) {
  const auto there = straight(one, other);
  const auto back = straight(other, one);
  const auto first = to_switch(one);
  const auto second = to_switch(other);
  if (!there || !back || !first || !second) return std::nullopt;
  const unsigned direct = std::min(*there, *back);
  return direct > 0 ? direct : std::min(*first, *second);
}

struct Place {
  const std::optional<PciPath>& path;
  int numa;
};

Connection over_pcie(const Place& one, const Place& other) {
  if (!one.path || !other.path) return {};
  return {.kind = Connection::Kind::pcie,
          .pcie = distance(*one.path, one.numa, *other.path, other.numa)};
}

Connection connect(const GpuSnapshot& one, const GpuSnapshot& other, const Place& here,
                   const Place& there) {
  const auto links = links_between(one, other);
  if (!links) return {};
  if (*links > 0) return {.kind = Connection::Kind::nvlink, .links = *links};
  return over_pcie(here, there);
}

std::optional<unsigned> whole(const Reading& reading) {
  if (!reading.ok()) return std::nullopt;
  return static_cast<unsigned>(as_double(reading.value));
}

GpuNode node_of(const GpuSnapshot& gpu, const NodeDevices& devices) {
  GpuNode node{.index = gpu.info.index,
               .uuid = gpu.info.uuid,
               .name = gpu.info.name,
               .pci = gpu.info.pci,
               .state = device::to_string(gpu.state),
               .memory_node = gpu.info.memory_node,
               .links = static_cast<unsigned>(gpu.info.nvlinks.size()),
               .links_up = count_up(gpu, [](const auto&) { return true; }),
               .links_reason = why_not_counted(gpu),
               .pcie_width = whole(gpu.readings.get(FieldId::pcie_width)),
               .width_reason = gpu.readings.get(FieldId::pcie_width).reason,
               .max_pcie_width = gpu.info.max_pcie_width};
  if (const auto place = devices.gpus.find(gpu.info.pci); place != devices.gpus.end()) {
    node.path = place->second.path;
    node.numa_node = place->second.numa_node;
    node.cpus = place->second.local_cpus;
  }
  // A kernel without NUMA says -1 where the driver counts the one node that there is.
  if (node.numa_node < 0 && node.memory_node < 0) node.numa_node = gpu.info.numa_node;
  return node;
}

NicNode node_of(const NicInfo& nic) {
  NicNode node{.name = nic.name,
               .pci = nic.pci,
               .link_layer = nic.link_layer,
               .port_state = nic.port_state,
               .rate_gbps = nic.rate_gbps};
  if (nic.place) {
    node.path = nic.place->path;
    node.numa_node = nic.place->numa_node;
  }
  return node;
}

// By index as NVML counts; one that could never be opened has none and comes last.
std::vector<const GpuSnapshot*> in_order(const Snapshot& snapshot) {
  std::vector<const GpuSnapshot*> gpus;
  gpus.reserve(snapshot.gpus.size());
  for (const GpuSnapshot& gpu : snapshot.gpus) gpus.push_back(&gpu);
  std::ranges::sort(gpus, {}, [](const GpuSnapshot* gpu) {
    return std::tuple(gpu->info.uuid.empty(), gpu->info.index, gpu->info.pci);
  });
  return gpus;
}

std::vector<Place> places_of(const Topology& topology) {
  std::vector<Place> places;
  places.reserve(topology.gpus.size() + topology.nics.size());
  for (const GpuNode& gpu : topology.gpus) places.push_back({gpu.path, gpu.numa_node});
  for (const NicNode& nic : topology.nics) places.push_back({nic.path, nic.numa_node});
  return places;
}

void fill_table(const std::vector<const GpuSnapshot*>& gpus, Topology& topology) {
  const auto places = places_of(topology);
  const Connection self{.kind = Connection::Kind::pcie, .pcie = PcieDistance::self};
  topology.table.assign(places.size(), std::vector<Connection>(places.size(), self));
  for (std::size_t one = 0; one < places.size(); ++one) {
    for (std::size_t other = one + 1; other < places.size(); ++other) {
      const Connection made = other < gpus.size()
                                  ? connect(*gpus[one], *gpus[other], places[one], places[other])
                                  : over_pcie(places[one], places[other]);
      topology.table[one][other] = made;
      topology.table[other][one] = made;
    }
  }
}

}  // namespace

std::string Connection::word() const {
  switch (kind) {
    case Kind::unknown: return "N/A";
    case Kind::pcie: return to_string(pcie);
    case Kind::nvlink: return fmt::format("NV{}", links);
  }
  return "N/A";
}

Result<Connection> Connection::parse(std::string_view word) {
  if (word == "N/A") return Connection{};
  for (const auto step : {PcieDistance::self, PcieDistance::pix, PcieDistance::pxb,
                          PcieDistance::phb, PcieDistance::node, PcieDistance::sys}) {
    if (word == to_string(step)) return Connection{.kind = Kind::pcie, .pcie = step};
  }
  Connection linked{.kind = Kind::nvlink};
  const char* end = word.data() + word.size();
  if (word.starts_with("NV")) {
    const auto read = std::from_chars(word.data() + 2, end, linked.links);
    if (read.ec == std::errc{} && read.ptr == end) return linked;
  }
  return fail(ErrorCode::corrupt, fmt::format("\"{}\" is no word of nvidia-smi's matrix", word));
}

Topology build(const Snapshot& snapshot) {
  Topology topology{.hostname = snapshot.hostname,
                    .simulated = store::is_simulated(snapshot).value_or(false),
                    .devices_read = snapshot.devices != nullptr};
  const NodeDevices none;
  const NodeDevices& devices = snapshot.devices ? *snapshot.devices : none;
  topology.problem = devices.gpus_problem.empty() ? devices.nics_problem : devices.gpus_problem;
  const auto gpus = in_order(snapshot);
  for (const GpuSnapshot* gpu : gpus) topology.gpus.push_back(node_of(*gpu, devices));
  for (const NicInfo& nic : devices.nics) topology.nics.push_back(node_of(nic));
  fill_table(gpus, topology);
  return topology;
}

std::string row_name(const Topology& topology, std::size_t place) {
  if (place >= topology.gpus.size()) return fmt::format("NIC{}", place - topology.gpus.size());
  return fmt::format("GPU{}", topology.gpus[place].index);
}

}  // namespace stoker::topology
