// Edge: a topology document back as what it was written from, for the command line's matrix and drawing.
#include <fmt/format.h>

#include "api/document_reader.h"
#include "api/topology_document.h"

namespace stoker::api {
namespace {

using topology::Connection;
using topology::GpuNode;
using topology::NicNode;
using topology::Topology;

std::optional<double> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

int node_at(const Json& object, const char* key) {
  return static_cast<int>(number_at(object, key).value_or(-1));
}

std::optional<unsigned> count_at(const Json& object, const char* key) {
  const auto number = number_at(object, key);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<PciPath> path_at(const Json& object) {
  auto path = PciPath::parse(text_of(object, "sysfs_path"));
  return path ? std::optional(std::move(*path)) : std::nullopt;
}

std::optional<PciAddress> address_at(const Json& object) {
  const auto pci = PciAddress::parse(text_of(object, "pci"));
  return pci ? std::optional(*pci) : std::nullopt;
}

GpuNode gpu_of(const Json& json) {
  return {.index = count_at(json, "index").value_or(0),
          .uuid = text_of(json, "uuid"),
          .name = text_of(json, "name"),
          .pci = address_at(json).value_or(PciAddress{}),
          .state = text_of(json, "state"),
          .path = path_at(json),
          .numa_node = node_at(json, "numa_node"),
          .cpus = text_of(json, "cpus"),
          .memory_node = node_at(json, "memory_numa_node"),
          .links = count_at(json, "nvlinks").value_or(0),
          .links_up = count_at(json, "nvlinks_up"),
          .pcie_width = count_at(json, "pcie_width"),
          .max_pcie_width = count_at(json, "max_pcie_width").value_or(0)};
}

NicNode nic_of(const Json& json) {
  return {.name = text_of(json, "name"),
          .pci = address_at(json),
          .path = path_at(json),
          .numa_node = node_at(json, "numa_node"),
          .link_layer = text_of(json, "link_layer"),
          .port_state = text_of(json, "port_state"),
          .rate_gbps = number_at(json, "rate_gigabits_per_second")};
}

// One row for each object of `list`, in the order of the rows.
Result<void> read_rows(const Json& list, const Topology& topology,
                       std::vector<std::vector<Connection>>& table) {
  const std::size_t count = topology.gpus.size() + topology.nics.size();
  for (const Json& object : list) {
    const Json& distances = list_of(object, "distances");
    auto& row = table.emplace_back();
    for (std::size_t other = 0; other < count; ++other) {
      const auto way = Connection::parse(text_of(distances, topology::row_name(topology, other)));
      if (!way) return fail(way.error());
      row.push_back(*way);
    }
  }
  return {};
}

}  // namespace

Result<Topology> read_topology(const std::string& document) {
  const auto json = read_document(document);
  if (!json) return fail(json.error());
  Topology topology{.hostname = text_of(*json, "hostname"),
                    .simulated = flag_of(*json, "simulated"),
                    .devices_read = flag_of(*json, "devices_read"),
                    .problem = text_of(*json, "problem")};
  const Json& gpus = list_of(*json, "gpus");
  const Json& nics = list_of(*json, "nics");
  for (const Json& gpu : gpus) topology.gpus.push_back(gpu_of(gpu));
  for (const Json& nic : nics) topology.nics.push_back(nic_of(nic));
  for (const Json* list : {&gpus, &nics}) {
    if (auto read = read_rows(*list, topology, topology.table); !read) return fail(read.error());
  }
  return topology;
}

}  // namespace stoker::api
