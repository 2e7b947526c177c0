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
std::string text(const Card& card, abi::Return (*function)(abi::Device, char*, unsigned)) {
  std::array<char, size> buffer{};
  if (!timed(card.clock(), function, card.device, buffer.data(), unsigned{size}).ok()) return "";
  buffer.back() = '\0';
  return buffer.data();
}

// A number that NVML tells of a device; 0 where it tells none.
template <typename Number>
Number number(const Card& card, abi::Return (*function)(abi::Device, Number*),
              Number otherwise = {}) {
  Number value{};
  return timed(card.clock(), function, card.device, &value).ok() ? value : otherwise;
}

void read_texts(Card& card) {
  const abi::Functions& nvml = card.nvml();
  device::GpuInfo& info = card.info;
  info.serial = text<abi::serial_size>(card, nvml.nvmlDeviceGetSerial);
  info.vbios = text<abi::vbios_version_size>(card, nvml.nvmlDeviceGetVbiosVersion);
  info.board_part = text<abi::part_number_size>(card, nvml.nvmlDeviceGetBoardPartNumber);
  info.inforom = text<abi::inforom_version_size>(card, nvml.nvmlDeviceGetInforomImageVersion);
  info.brand = brand_word(number(card, nvml.nvmlDeviceGetBrand, abi::Brand::unknown));
}

int threshold(const Card& card, abi::TemperatureThreshold which) {
  unsigned celsius = 0;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetTemperatureThreshold,
                              card.device, which, &celsius);
  return called.ok() ? static_cast<int>(celsius) : 0;
}

unsigned max_clock_mhz(const Card& card, abi::ClockType type) {
  unsigned mhz = 0;
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetMaxClockInfo, card.device, type, &mhz);
  return called.ok() ? mhz : 0;
}

void read_limits(Card& card) {
  using abi::TemperatureThreshold;
  const abi::Functions& nvml = card.nvml();
  device::GpuInfo& info = card.info;
  info.shutdown_celsius = threshold(card, TemperatureThreshold::shutdown);
  info.slowdown_celsius = threshold(card, TemperatureThreshold::slowdown);
  info.max_memory_celsius = threshold(card, TemperatureThreshold::memory_max);
  info.max_operating_celsius = threshold(card, TemperatureThreshold::gpu_max);

  unsigned lowest_mw = 0;
  unsigned highest_mw = 0;
  if (timed(card.clock(), nvml.nvmlDeviceGetPowerManagementLimitConstraints, card.device,
            &lowest_mw, &highest_mw)
          .ok()) {
    info.power_limit_min_watts = lowest_mw / 1000.0;
    info.power_limit_max_watts = highest_mw / 1000.0;
  }
  info.power_limit_default_watts =
      number(card, nvml.nvmlDeviceGetPowerManagementDefaultLimit) / 1000.0;

  info.max_sm_clock_mhz = max_clock_mhz(card, abi::ClockType::sm);
  info.max_memory_clock_mhz = max_clock_mhz(card, abi::ClockType::memory);
  info.max_pcie_generation = number(card, nvml.nvmlDeviceGetMaxPcieLinkGeneration);
  info.max_pcie_width = number(card, nvml.nvmlDeviceGetMaxPcieLinkWidth);
}

// The NUMA node that the GPU's own memory is (Grace); -1: it is none.
int memory_node(const Card& card) {
  unsigned node = 0;
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetNumaNodeId, card.device, &node);
  return called.ok() ? static_cast<int>(node) : -1;
}

// The GPU's own node where its memory is one, else the first node near it.
int numa_node(const Card& card) {
  if (card.info.memory_node >= 0) return card.info.memory_node;
  const abi::Functions& nvml = card.nvml();
  std::array<unsigned long, 4> nodes{};
  const Called called =
      timed(card.clock(), nvml.nvmlDeviceGetMemoryAffinity, card.device,
            static_cast<unsigned>(nodes.size()), nodes.data(), abi::AffinityScope::node);
  if (!called.ok()) return -1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.at(i) != 0) return static_cast<int>(i * 64) + std::countr_zero(nodes.at(i));
  }
  return -1;
}

void read_make(Card& card) {
  const abi::Functions& nvml = card.nvml();
  device::GpuInfo& info = card.info;
  card.architecture = number(card, nvml.nvmlDeviceGetArchitecture, abi::Architecture::unknown);
  info.architecture = word(card.architecture);
  int major = 0;
  int minor = 0;
  if (timed(card.clock(), nvml.nvmlDeviceGetCudaComputeCapability, card.device, &major, &minor)
          .ok()) {
    info.compute_capability = major * 10 + minor;
  }
  info.cores = number(card, nvml.nvmlDeviceGetNumGpuCores);
  info.minor = number(card, nvml.nvmlDeviceGetMinorNumber);
  info.memory_bytes = number(card, nvml.nvmlDeviceGetMemoryInfo).total_bytes;
}

void start_gpm(Card& card) {
  const abi::Functions& nvml = card.nvml();
  abi::GpmSupport support{abi::gpm_support_version, 0};
  const auto answers = [&] {
    const GpmGate::Pass pass(card.session->gpm_gate, true);
    return timed(card.clock(), nvml.nvmlGpmQueryDeviceSupport, card.device, &support).ok();
  };
  card.info.gpm = nvml.nvmlGpmSampleGet != nullptr && nvml.nvmlGpmMetricsGet != nullptr &&
                  answers() && support.supported != 0;
  if (card.info.gpm) card.gpm.start(nvml, card.clock(), card.device, card.session->gpm_gate);
}

// Where the other end is hidden and its kind is not told, it is an NVSwitch outside of the VM: NCCL's
// src/graph/xml.cc concludes the same.
device::LinkEnd link_end(const Card& card, unsigned link, bool hidden) {
  abi::NvLinkRemoteType type = abi::NvLinkRemoteType::unknown;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetNvLinkRemoteDeviceType,
                              card.device, link, &type);
  if (!called.ok()) type = abi::NvLinkRemoteType::unknown;
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
  abi::Return code = timed(card.clock(), nvml.nvmlDeviceGetName, card.device, name.data(),
                           static_cast<unsigned>(name.size()))
                         .code;
  if (code == abi::Return::success) {
    code = timed(card.clock(), nvml.nvmlDeviceGetUUID, card.device, uuid.data(),
                 static_cast<unsigned>(uuid.size()))
               .code;
  }
  if (code != abi::Return::success) return code;
  name.back() = '\0';
  uuid.back() = '\0';
  card.info.name = name.data();
  card.info.uuid = uuid.data();
  read_texts(card);
  read_make(card);
  read_limits(card);
  card.info.memory_node = memory_node(card);
  card.info.numa_node = numa_node(card);
  start_gpm(card);
  return code;
}

void read_nvlinks(Card& card) {
  const abi::Functions& nvml = card.nvml();
  for (unsigned link = 0; link < abi::max_nvlinks; ++link) {
    abi::EnableState state{};
    const Called asked =
        timed(card.clock(), nvml.nvmlDeviceGetNvLinkState, card.device, link, &state);
    if (asked.code == abi::Return::invalid_argument) break;
    if (!asked.ok()) continue;
    device::NvLinkInfo info;
    info.link = link;
    timed(card.clock(), nvml.nvmlDeviceGetNvLinkVersion, card.device, link, &info.version);
    abi::PciInfo remote{};
    const Called told =
        timed(card.clock(), nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2, card.device, link, &remote);
    // In a VM the driver answers FFFFFFFF:FF:FF.0 for an NVSwitch (tests/fixtures/captures/h200x4).
    const bool hidden = told.ok() && remote.domain == 0xFFFFFFFF;
    info.remote = link_end(card, link, hidden);
    if (told.ok() && !hidden) {
      info.remote_pci =
          fmt::format("{:04x}:{:02x}:{:02x}.0", remote.domain, remote.bus, remote.device);
    }
    card.info.nvlinks.push_back(std::move(info));
  }
}

}  // namespace stoker::nvml
