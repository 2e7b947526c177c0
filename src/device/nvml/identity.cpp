#include "device/nvml/identity.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace stoker::nvml {
namespace {

const char* brand_word(abi::Brand brand) {
  using abi::Brand;
  switch (brand) {
    case Brand::quadro: return "Quadro";
    case Brand::tesla: return "Tesla";
    case Brand::nvs: return "NVS";
    case Brand::grid: return "GRID";
    case Brand::geforce: return "GeForce";
    case Brand::titan: return "TITAN";
    case Brand::vapps: return "NVIDIA vApps";
    case Brand::vpc: return "NVIDIA vPC";
    case Brand::vcs: return "NVIDIA vCS";
    case Brand::vws: return "NVIDIA vWS";
    case Brand::cloud_gaming: return "NVIDIA Cloud Gaming";
    case Brand::quadro_rtx: return "Quadro RTX";
    case Brand::nvidia_rtx: return "NVIDIA RTX";
    case Brand::nvidia: return "NVIDIA";
    case Brand::geforce_rtx: return "GeForce RTX";
    case Brand::titan_rtx: return "TITAN RTX";
    case Brand::unknown: break;
  }
  return "";
}

// A text that NVML copies into a buffer of the caller's; empty where it tells none.
template <std::size_t size>
std::string text(abi::Device device, abi::Return (*function)(abi::Device, char*, unsigned)) {
  std::array<char, size> buffer{};
  if (function == nullptr || function(device, buffer.data(), size) != abi::Return::success) {
    return "";
  }
  buffer.back() = '\0';
  return buffer.data();
}

// A number that NVML tells of a device; 0 where it tells none.
template <typename Number>
Number number(abi::Device device, abi::Return (*function)(abi::Device, Number*),
              Number otherwise = {}) {
  Number value{};
  if (function == nullptr || function(device, &value) != abi::Return::success) return otherwise;
  return value;
}

void read_texts(const abi::Functions& nvml, abi::Device device, device::GpuInfo& info) {
  info.serial = text<abi::serial_size>(device, nvml.nvmlDeviceGetSerial);
  info.vbios = text<abi::vbios_version_size>(device, nvml.nvmlDeviceGetVbiosVersion);
  info.board_part = text<abi::part_number_size>(device, nvml.nvmlDeviceGetBoardPartNumber);
  info.inforom = text<abi::inforom_version_size>(device, nvml.nvmlDeviceGetInforomImageVersion);
  info.brand = brand_word(number(device, nvml.nvmlDeviceGetBrand, abi::Brand::unknown));
}

int threshold(const abi::Functions& nvml, abi::Device device, abi::TemperatureThreshold which) {
  unsigned celsius = 0;
  if (nvml.nvmlDeviceGetTemperatureThreshold == nullptr) return 0;
  const abi::Return code = nvml.nvmlDeviceGetTemperatureThreshold(device, which, &celsius);
  return code == abi::Return::success ? static_cast<int>(celsius) : 0;
}

void read_limits(const abi::Functions& nvml, abi::Device device, device::GpuInfo& info) {
  using abi::TemperatureThreshold;
  info.shutdown_celsius = threshold(nvml, device, TemperatureThreshold::shutdown);
  info.slowdown_celsius = threshold(nvml, device, TemperatureThreshold::slowdown);
  info.max_memory_celsius = threshold(nvml, device, TemperatureThreshold::memory_max);
  info.max_operating_celsius = threshold(nvml, device, TemperatureThreshold::gpu_max);

  unsigned lowest_mw = 0;
  unsigned highest_mw = 0;
  if (nvml.nvmlDeviceGetPowerManagementLimitConstraints != nullptr &&
      nvml.nvmlDeviceGetPowerManagementLimitConstraints(device, &lowest_mw, &highest_mw) ==
          abi::Return::success) {
    info.power_limit_min_watts = lowest_mw / 1000.0;
    info.power_limit_max_watts = highest_mw / 1000.0;
  }
  info.power_limit_default_watts =
      number(device, nvml.nvmlDeviceGetPowerManagementDefaultLimit) / 1000.0;

  unsigned mhz = 0;
  if (nvml.nvmlDeviceGetMaxClockInfo != nullptr) {
    const auto max_clock = [&](abi::ClockType type) {
      const abi::Return code = nvml.nvmlDeviceGetMaxClockInfo(device, type, &mhz);
      return code == abi::Return::success ? mhz : 0;
    };
    info.max_sm_clock_mhz = max_clock(abi::ClockType::sm);
    info.max_memory_clock_mhz = max_clock(abi::ClockType::memory);
  }
  info.max_pcie_generation = number(device, nvml.nvmlDeviceGetMaxPcieLinkGeneration);
  info.max_pcie_width = number(device, nvml.nvmlDeviceGetMaxPcieLinkWidth);
}

// The NUMA node that the GPU's own memory is (Grace); -1: it is none.
int memory_node(const abi::Functions& nvml, abi::Device device) {
  unsigned node = 0;
  const bool told = nvml.nvmlDeviceGetNumaNodeId != nullptr &&
                    nvml.nvmlDeviceGetNumaNodeId(device, &node) == abi::Return::success;
  return told ? static_cast<int>(node) : -1;
}

// The first node near the GPU.
int near_node(const abi::Functions& nvml, abi::Device device) {
  std::array<unsigned long, 4> nodes{};
  if (nvml.nvmlDeviceGetMemoryAffinity == nullptr ||
      nvml.nvmlDeviceGetMemoryAffinity(device, nodes.size(), nodes.data(),
                                       abi::AffinityScope::node) != abi::Return::success) {
    return -1;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.at(i) != 0) return static_cast<int>(i * 64) + std::countr_zero(nodes.at(i));
  }
  return -1;
}

void read_make(Card& card) {
  const abi::Functions& nvml = card.nvml();
  device::GpuInfo& info = card.info;
  card.architecture =
      number(card.device, nvml.nvmlDeviceGetArchitecture, abi::Architecture::unknown);
  info.architecture = word(card.architecture);
  int major = 0;
  int minor = 0;
  if (nvml.nvmlDeviceGetCudaComputeCapability != nullptr &&
      nvml.nvmlDeviceGetCudaComputeCapability(card.device, &major, &minor) ==
          abi::Return::success) {
    info.compute_capability = major * 10 + minor;
  }
  info.cores = number(card.device, nvml.nvmlDeviceGetNumGpuCores);
  info.minor = number(card.device, nvml.nvmlDeviceGetMinorNumber);
  info.memory_bytes = number(card.device, nvml.nvmlDeviceGetMemoryInfo).total_bytes;
}

void start_gpm(Card& card) {
  const abi::Functions& nvml = card.nvml();
  abi::GpmSupport support{abi::gpm_support_version, 0};
  card.info.gpm = nvml.nvmlGpmQueryDeviceSupport != nullptr && nvml.nvmlGpmSampleGet != nullptr &&
                  nvml.nvmlGpmMetricsGet != nullptr &&
                  nvml.nvmlGpmQueryDeviceSupport(card.device, &support) == abi::Return::success &&
                  support.supported != 0;
  if (card.info.gpm) card.gpm.start(nvml, card.clock(), card.device);
}

// Where the other end is hidden and its kind is not told, it is an NVSwitch outside of the VM: NCCL's
// src/graph/xml.cc concludes the same.
device::LinkEnd link_end(const abi::Functions& nvml, abi::Device device, unsigned link,
                         bool hidden) {
  abi::NvLinkRemoteType type = abi::NvLinkRemoteType::unknown;
  if (nvml.nvmlDeviceGetNvLinkRemoteDeviceType == nullptr ||
      nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &type) != abi::Return::success) {
    type = abi::NvLinkRemoteType::unknown;
  }
  switch (type) {
    case abi::NvLinkRemoteType::gpu: return device::LinkEnd::gpu;
    case abi::NvLinkRemoteType::nvswitch: return device::LinkEnd::nvswitch;
    case abi::NvLinkRemoteType::ibm_npu: return device::LinkEnd::other;
    case abi::NvLinkRemoteType::unknown: break;
  }
  return hidden ? device::LinkEnd::nvswitch : device::LinkEnd::unknown;
}

}  // namespace

const char* word(abi::Architecture architecture) {
  using abi::Architecture;
  switch (architecture) {
    case Architecture::kepler: return "kepler";
    case Architecture::maxwell: return "maxwell";
    case Architecture::pascal: return "pascal";
    case Architecture::volta: return "volta";
    case Architecture::turing: return "turing";
    case Architecture::ampere: return "ampere";
    case Architecture::ada: return "ada";
    case Architecture::hopper: return "hopper";
    case Architecture::blackwell: return "blackwell";
    case Architecture::rubin: return "rubin";
    case Architecture::unknown: break;
  }
  return "";
}

abi::Return read_identity(Card& card) {
  const abi::Functions& nvml = card.nvml();
  std::array<char, abi::name_v2_size> name{};
  std::array<char, abi::uuid_v2_size> uuid{};
  abi::Return code = nvml.nvmlDeviceGetName(card.device, name.data(), name.size());
  if (code == abi::Return::success) {
    code = nvml.nvmlDeviceGetUUID(card.device, uuid.data(), uuid.size());
  }
  if (code != abi::Return::success) return code;
  name.back() = '\0';
  uuid.back() = '\0';
  card.info.name = name.data();
  card.info.uuid = uuid.data();
  read_texts(nvml, card.device, card.info);
  read_make(card);
  read_limits(nvml, card.device, card.info);
  card.info.memory_node = memory_node(nvml, card.device);
  card.info.numa_node =
      card.info.memory_node >= 0 ? card.info.memory_node : near_node(nvml, card.device);
  start_gpm(card);
  return code;
}

void read_nvlinks(Card& card) {
  const abi::Functions& nvml = card.nvml();
  if (nvml.nvmlDeviceGetNvLinkState == nullptr) return;
  for (unsigned link = 0; link < abi::max_nvlinks; ++link) {
    abi::EnableState state{};
    const abi::Return code = nvml.nvmlDeviceGetNvLinkState(card.device, link, &state);
    if (code == abi::Return::invalid_argument) break;
    if (code != abi::Return::success) continue;
    device::NvLinkInfo info;
    info.link = link;
    if (nvml.nvmlDeviceGetNvLinkVersion != nullptr) {
      nvml.nvmlDeviceGetNvLinkVersion(card.device, link, &info.version);
    }
    abi::PciInfo remote{};
    // In a VM the driver answers FFFFFFFF:FF:FF.0 for an NVSwitch (tests/fixtures/captures/h200x4).
    const bool told = nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2 != nullptr &&
                      nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(card.device, link, &remote) ==
                          abi::Return::success;
    const bool hidden = told && remote.domain == 0xFFFFFFFF;
    info.remote = link_end(nvml, card.device, link, hidden);
    if (told && !hidden) {
      info.remote_pci =
          fmt::format("{:04x}:{:02x}:{:02x}.0", remote.domain, remote.bus, remote.device);
    }
    card.info.nvlinks.push_back(std::move(info));
  }
}

}  // namespace stoker::nvml
