// Edge: /api/v1/topology: GPUs and NICs with their distances from one another.
#include <fmt/format.h>

#include "api/documents.h"
#include "api/topology_document.h"
#include "topology/advice.h"

namespace stoker::api {
namespace {

using topology::GpuNode;
using topology::NicNode;
using topology::Topology;

// What sysfs or the driver did not tell; before the first look that is not known yet.
void unknown(JsonWriter& json, const Topology& topology, const std::string& key) {
  write_missing(json, key, topology.devices_read ? Reason::no_source : Reason::pending);
}

template <typename Node>
void write_place(JsonWriter& json, const Topology& topology, const Node& node) {
  if (node.path) {
    json.member("sysfs_path", node.path->sysfs());
  } else {
    unknown(json, topology, "sysfs_path");
  }
  if (node.numa_node >= 0) {
    json.member("numa_node", node.numa_node);
  } else {
    unknown(json, topology, "numa_node");
  }
}

void write_distances(JsonWriter& json, const Topology& topology, std::size_t place) {
  json.key("distances").begin_object();
  for (std::size_t other = 0; other < topology.table.size(); ++other) {
    json.member(topology::row_name(topology, other), topology.table[place][other].word());
  }
  json.end_object();
}

void write_nearest(JsonWriter& json, const Topology& topology, std::size_t gpu) {
  const auto choice = topology::nearest_nics(topology, gpu);
  json.key("nearest_nics").begin_array();
  for (const std::size_t nic : choice.nics) json.value(topology.nics[nic].name);
  json.end_array();
}

void write_gpu(JsonWriter& json, const Topology& topology, std::size_t place) {
  const GpuNode& gpu = topology.gpus[place];
  json.begin_object().member("row", topology::row_name(topology, place));
  json.member("index", gpu.index).member_or_null("uuid", gpu.uuid).member_or_null("name", gpu.name);
  json.member("pci", gpu.pci.sysfs()).member("state", gpu.state);
  write_place(json, topology, gpu);
  if (gpu.cpus.empty()) {
    unknown(json, topology, "cpus");
  } else {
    json.member("cpus", gpu.cpus);
  }
  if (gpu.memory_node >= 0) {
    json.member("memory_numa_node", gpu.memory_node);
  } else {
    write_missing(json, "memory_numa_node", Reason::not_supported);
  }
  json.member("nvlinks", gpu.links);
  if (gpu.links_up) {
    json.member("nvlinks_up", *gpu.links_up);
  } else {
    write_missing(json, "nvlinks_up", gpu.links_reason);
  }
  if (gpu.pcie_width) {
    json.member("pcie_width", *gpu.pcie_width);
  } else {
    write_missing(json, "pcie_width", gpu.width_reason);
  }
  json.member("max_pcie_width", gpu.max_pcie_width);
  write_distances(json, topology, place);
  write_nearest(json, topology, place);
  json.end_object();
}

void write_nic(JsonWriter& json, const Topology& topology, std::size_t number) {
  const NicNode& nic = topology.nics[number];
  const std::size_t place = topology.gpus.size() + number;
  json.begin_object().member("row", topology::row_name(topology, place)).member("name", nic.name);
  json.member_or_null("pci", nic.pci ? nic.pci->sysfs() : "");
  write_place(json, topology, nic);
  json.member_or_null("link_layer", nic.link_layer).member_or_null("port_state", nic.port_state);
  if (nic.rate_gbps) {
    json.member("rate_gigabits_per_second", *nic.rate_gbps);
  } else {
    unknown(json, topology, "rate_gigabits_per_second");
  }
  write_distances(json, topology, place);
  json.end_object();
}

}  // namespace

std::string topology_document(const Topology& topology) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/topology");
  json.member("hostname", topology.hostname).member("simulated", topology.simulated);
  json.member("devices_read", topology.devices_read).member_or_null("problem", topology.problem);
  json.key("gpus").begin_array();
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) write_gpu(json, topology, gpu);
  json.end_array().key("nics").begin_array();
  for (std::size_t nic = 0; nic < topology.nics.size(); ++nic) write_nic(json, topology, nic);
  json.end_array().member_or_null("nccl_ib_hca", topology::nccl_ib_hca(topology));
  json.key("remarks").begin_array();
  for (const auto& remark : topology::remarks(topology)) {
    json.begin_object()
        .member("about", remark.about)
        .member("message", remark.message)
        .end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
