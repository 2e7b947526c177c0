// Bytes as in tests/fixtures/captures/{h100x1,h200x4}/topo-m.txt (driver 580.159.04). NICs' rows and
// their legend, which those machines lack, as in a GB200 container's bytes that NVIDIA publishes with
// ai-dynamo/aiconfigurator's tests (GB200_ANSI_TOPOLOGY).
#include "topology/matrix.h"

#include <fmt/format.h>

namespace stoker::topology {
namespace {

constexpr const char* legend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., "
    "QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
    "within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
    "Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

// "CPU Affinity", "NUMA Affinity" and "GPU NUMA ID", with the further tab that fills the second title.
std::string affinity(const GpuNode& gpu) {
  // A node that is not known is set off by a tab more.
  const std::string numa = gpu.numa_node < 0 ? "\tN/A" : std::to_string(gpu.numa_node);
  const std::string memory = gpu.memory_node < 0 ? "N/A" : std::to_string(gpu.memory_node);
  return fmt::format("{}\t{}\t\t{}", gpu.cpus, numa, memory);
}

std::string cell(const Connection& connection) {
  const bool self =
      connection.kind == Connection::Kind::pcie && connection.pcie == PcieDistance::self;
  return self ? " X " : connection.word();
}

}  // namespace

std::string matrix(const Topology& topology) {
  const std::size_t count = topology.table.size();
  std::string text = "\t\x1b[4m";
  for (std::size_t place = 0; place < count; ++place) text += row_name(topology, place) + "\t";
  text += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (std::size_t place = 0; place < count; ++place) {
    text += row_name(topology, place) + "\t";
    for (const Connection& connection : topology.table[place]) text += cell(connection) + "\t";
    text += place < topology.gpus.size() ? affinity(topology.gpus[place]) : "\t\t\t";
    text += "\n";
  }
  text += legend;
  if (topology.nics.empty()) return text;
  text += "\nNIC Legend:\n\n";
  for (std::size_t nic = 0; nic < topology.nics.size(); ++nic) {
    text += fmt::format("  NIC{}: {}\n", nic, topology.nics[nic].name);
  }
  return text + "\n";
}

}  // namespace stoker::topology
