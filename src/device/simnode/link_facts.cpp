#include "device/simnode/link_facts.h"

#include <algorithm>
#include <charconv>

namespace stoker::simnode {
namespace {

// NVML's numbers.
constexpr std::uint32_t p2p_nvlink = 2;
constexpr std::uint32_t p2p_atomics = 3;
constexpr std::uint32_t p2p_not_supported = 5;
constexpr std::uint32_t remote_gpu = 0;
constexpr std::uint32_t remote_switch = 2;
constexpr std::uint32_t all_capabilities = 0x3F;  // nvidia-smi nvlink -c on H200: true for all six
constexpr std::uint32_t fabric_completed = 3;
constexpr std::uint32_t architecture_hopper = 9;
constexpr std::uint32_t health_healthy = 1;

// A switch that the driver of a VM does not see: what four H200 in a VM answered.
void hide_remote(sim::LinkFacts& link) {
  link.remote_domain = 0xFFFFFFFF;
  link.remote_bus = 0xFF;
  link.remote_device = 0xFF;
  link.remote_device_id = 0xFFFFFFFF;
}

void point_at(const PciAddress& pci, std::uint32_t device_id, sim::LinkFacts& link) {
  link.remote_domain = pci.domain;
  link.remote_bus = pci.bus;
  link.remote_device = pci.device;
  link.remote_device_id = device_id;
}

void fill_remote(const Machine& machine, unsigned index, unsigned number, sim::LinkFacts& link) {
  if (machine.nvlink == NvLinkKind::nvswitch) {
    link.remote_type = remote_switch;
    if (machine.switches.empty()) {
      hide_remote(link);
    } else {
      point_at(machine.switches[number % machine.switches.size()], machine.switch_device_id, link);
    }
    return;
  }
  link.remote_type = remote_gpu;
  const auto others = static_cast<unsigned>(machine.gpus.size()) - 1;
  const unsigned peer = (index + 1 + number % others) % (others + 1);
  const MachineGpu& remote = machine.gpus[peer];
  point_at(remote.pci, machine.products.at(remote.product).pci.device_id, link);
}

// "51000000-0000-..." into bytes; what is not hex is skipped.
void fill_cluster(const std::string& uuid, std::uint8_t (&out)[16]) {
  std::string digits;
  for (const char c : uuid) {
    if (c != '-') digits += c;
  }
  for (std::size_t i = 0; i < sizeof out && 2 * i + 1 < digits.size(); ++i) {
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, out[i], 16);
  }
}

// The fabric manager registers GPUs from Hopper on; in one node's domain health is not told.
void fill_fabric(const Machine& machine, const catalog::Product& product, sim::FabricFacts& to) {
  if (!machine.fabric || product.identity.architecture < architecture_hopper) return;
  to.state = fabric_completed;
  fill_cluster(machine.cluster_uuid, to.cluster_uuid);
  if (!machine.cluster_uuid.empty()) to.health = health_healthy;
}

// nvmlGpuTopologyLevel_t
std::uint32_t level_of(PcieDistance distance) {
  switch (distance) {
    case PcieDistance::self: return 0;
    case PcieDistance::pix: return 10;
    case PcieDistance::pxb: return 20;
    case PcieDistance::phb: return 30;
    case PcieDistance::node: return 40;
    case PcieDistance::sys: return 50;
  }
  return 50;
}

std::uint32_t level_between(const MachineGpu& one, const MachineGpu& other) {
  return level_of(distance(path_of(one.pci, one.bridges), static_cast<int>(one.numa),
                           path_of(other.pci, other.bridges), static_cast<int>(other.numa)));
}

void fill_neighbours(const Machine& machine, unsigned index, sim::Gpu& gpu) {
  const bool linked = machine.nvlink != NvLinkKind::none;
  for (unsigned other = 0; other < machine.gpus.size(); ++other) {
    if (other == index) continue;
    gpu.topology_level[other] = level_between(machine.gpus[index], machine.gpus[other]);
    if (linked) continue;
    gpu.p2p_status[p2p_nvlink][other] = p2p_not_supported;
    gpu.p2p_status[p2p_atomics][other] = p2p_not_supported;
  }
}

}  // namespace

void fill_links(const Machine& machine, unsigned index, const catalog::Product& product,
                sim::Gpu& gpu) {
  fill_neighbours(machine, index, gpu);
  const bool alone = machine.nvlink == NvLinkKind::peers && machine.gpus.size() < 2;
  if (machine.nvlink == NvLinkKind::none || !product.nvlink || alone) return;
  gpu.link_count = std::min(product.nvlink->links, sim::max_links);
  for (unsigned number = 0; number < gpu.link_count; ++number) {
    sim::LinkFacts& link = gpu.links[number];
    link.present = 1;
    link.active = 1;
    link.version = product.nvlink->version_code;
    link.capabilities = all_capabilities;
    link.speed_mbps = product.nvlink->speed_mbps;
    fill_remote(machine, index, number, link);
  }
  fill_fabric(machine, product, gpu.fabric);
}

}  // namespace stoker::simnode
