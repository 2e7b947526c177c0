// The handles, return codes, enumerations and limits of NVML's C ABI, declared by us so that
// nothing of the vendor's has to be installed to build. Stage: device. Every number is an ABI fact
// read from the public nvml.h as NVIDIA/go-nvml keeps it; "(12.8)" after a name is the first header
// that has it, no note means the oldest one looked at, 11.0 (driver branch 450).
// abi_table.h maps header versions to driver branches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::nvml::abi {

struct DeviceOpaque;
struct EventSetOpaque;
struct GpuInstanceOpaque;
struct ComputeInstanceOpaque;
struct GpmSampleOpaque;
struct UnitOpaque;

/// Handles are pointers into the library. They are valid until shutdown, and never cross a process.
using Device = DeviceOpaque*;
using EventSet = EventSetOpaque*;
using GpuInstance = GpuInstanceOpaque*;
using ComputeInstance = ComputeInstanceOpaque*;
using GpmSample = GpmSampleOpaque*;
using Unit = UnitOpaque*;

/// A newer driver may answer a number that is not named here: keep it, and show it raw.
enum class Return : std::int32_t {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  already_initialized = 5,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  lib_rm_version_mismatch = 18,
  in_use = 19,
  memory = 20,
  no_data = 21,
  vgpu_ecc_not_supported = 22,
  insufficient_resources = 23,
  freq_not_supported = 24,         // (11.4)
  argument_version_mismatch = 25,  // (11.8)
  deprecated = 26,                 // (12.0)
  not_ready = 27,                  // (12.2)
  gpu_not_found = 28,              // (12.3)
  invalid_state = 29,              // (12.4)
  reset_type_not_supported = 30,   // (13.0)
  unknown = 999,
};

enum class EnableState : std::uint32_t { disabled = 0, enabled = 1 };

/// Flags of nvmlInitWithFlags.
inline constexpr unsigned init_flag_no_gpus = 1;    ///< succeed where no GPU is found
inline constexpr unsigned init_flag_no_attach = 2;  ///< open no GPU until a handle is asked for

/// "None" in an unsigned field: process memory that the driver can't tell, GI and CI ids off MIG.
inline constexpr std::uint64_t value_not_available = ~std::uint64_t{0};
inline constexpr std::uint32_t no_instance_id = 0xFFFFFFFF;

// Buffer sizes that callers must offer.
inline constexpr std::size_t pci_bus_id_size = 32;
inline constexpr std::size_t pci_bus_id_legacy_size = 16;
inline constexpr std::size_t uuid_size = 80;
inline constexpr std::size_t uuid_v2_size = 96;
inline constexpr std::size_t name_size = 64;
inline constexpr std::size_t name_v2_size = 96;
inline constexpr std::size_t serial_size = 30;
inline constexpr std::size_t part_number_size = 80;
inline constexpr std::size_t vbios_version_size = 32;
inline constexpr std::size_t inforom_version_size = 16;
inline constexpr std::size_t system_version_size = 80;
inline constexpr std::size_t gsp_firmware_version_size = 0x40;  // (11.7)
inline constexpr std::size_t fabric_uuid_size = 16;

// Limits. 36 links is (13.3); 18 from 11.8 on, 12 before: ask links until invalid_argument.
inline constexpr unsigned max_nvlinks = 36;
inline constexpr unsigned max_bridge_chips = 128;
inline constexpr unsigned max_thermal_sensors = 3;
inline constexpr unsigned max_utilization_domains = 8;
inline constexpr unsigned max_clock_domains = 32;

enum class Brand : std::uint32_t {
  unknown = 0,
  quadro = 1,
  tesla = 2,
  nvs = 3,
  grid = 4,
  geforce = 5,
  titan = 6,
  vapps = 7,
  vpc = 8,
  vcs = 9,
  vws = 10,
  cloud_gaming = 11,
  quadro_rtx = 12,
  nvidia_rtx = 13,
  nvidia = 14,
  geforce_rtx = 15,
  titan_rtx = 16,
};

enum class Architecture : std::uint32_t {
  kepler = 2,
  maxwell = 3,
  pascal = 4,
  volta = 5,
  turing = 6,
  ampere = 7,
  ada = 8,         // (11.8)
  hopper = 9,      // (11.8)
  blackwell = 10,  // (12.6)
  rubin = 13,      // (13.3)
  unknown = 0xFFFFFFFF,
};

enum class BusType : std::uint32_t { unknown = 0, pci = 1, pcie = 2, fpci = 3, agp = 4 };
enum class PowerSource : std::uint32_t { ac = 0, battery = 1, undersized = 2 };
enum class AffinityScope : std::uint32_t { node = 0, socket = 1 };

enum class ClockType : std::uint32_t { graphics = 0, sm = 1, memory = 2, video = 3 };
enum class ClockId : std::uint32_t {
  current = 0,
  application_target = 1,
  application_default = 2,
  customer_boost_max = 3,
};

enum class TemperatureSensor : std::uint32_t { gpu = 0 };
enum class TemperatureThreshold : std::uint32_t {
  shutdown = 0,
  slowdown = 1,
  memory_max = 2,
  gpu_max = 3,
  acoustic_min = 4,      // (11.2)
  acoustic_current = 5,  // (11.2)
  acoustic_max = 6,      // (11.2)
  gps_current = 7,       // (12.5)
};

enum class PcieCounter : std::uint32_t { tx_bytes = 0, rx_bytes = 1 };
enum class ComputeMode : std::uint32_t {
  shared = 0,  // the vendor's "default"
  exclusive_thread = 1,
  prohibited = 2,
  exclusive_process = 3,
};
enum class PState : std::uint32_t { p0 = 0, p8 = 8, p15 = 15, unknown = 32 };
enum class DriverModel : std::uint32_t { wddm = 0, wdm = 1, mcdm = 2 };
enum class GpuOperationMode : std::uint32_t { all_on = 0, compute = 1, low_dp = 2 };
enum class InforomObject : std::uint32_t { oem = 0, ecc = 1, power = 2, den = 3 };  // den (12.8)
enum class VirtualizationMode : std::uint32_t {
  none = 0,
  passthrough = 1,
  vgpu = 2,
  host_vgpu = 3,
  host_vsga = 4,
};
enum class RestrictedApi : std::uint32_t { application_clocks = 0, auto_boosted_clocks = 1 };

enum class MemoryErrorType : std::uint32_t { corrected = 0, uncorrected = 1 };
enum class EccCounterType : std::uint32_t { volatile_count = 0, aggregate_count = 1 };
enum class MemoryLocation : std::uint32_t {
  l1_cache = 0,
  l2_cache = 1,
  device_memory = 2,
  register_file = 3,
  texture_memory = 4,
  texture_shm = 5,
  cbu = 6,
  sram = 7,
};
enum class PageRetirementCause : std::uint32_t { multiple_single_bit = 0, double_bit = 1 };

enum class PerfPolicy : std::uint32_t {
  power = 0,
  thermal = 1,
  sync_boost = 2,
  board_limit = 3,
  low_utilization = 4,
  reliability = 5,
  total_app_clocks = 10,
  total_base_clocks = 11,
};

/// Bits of CurrentClocksThrottleReasons, called ...EventReasons from header 12.2 on.
namespace clocks_event_reason {
inline constexpr std::uint64_t gpu_idle = 0x1;
inline constexpr std::uint64_t applications_clocks_setting = 0x2;
inline constexpr std::uint64_t sw_power_cap = 0x4;
inline constexpr std::uint64_t hw_slowdown = 0x8;
inline constexpr std::uint64_t sync_boost = 0x10;
inline constexpr std::uint64_t sw_thermal_slowdown = 0x20;
inline constexpr std::uint64_t hw_thermal_slowdown = 0x40;
inline constexpr std::uint64_t hw_power_brake_slowdown = 0x80;
inline constexpr std::uint64_t display_clock_setting = 0x100;
}  // namespace clocks_event_reason

enum class NvLinkCapability : std::uint32_t {
  p2p = 0,
  sysmem_access = 1,
  p2p_atomics = 2,
  sysmem_atomics = 3,
  sli_bridge = 4,
  valid = 5,
};
enum class NvLinkErrorCounter : std::uint32_t {
  dl_replay = 0,
  dl_recovery = 1,
  dl_crc_flit = 2,
  dl_crc_data = 3,
  dl_ecc_data = 4,  // (11.4)
};
enum class NvLinkRemoteType : std::uint32_t { gpu = 0, ibm_npu = 1, nvswitch = 2, unknown = 0xFF };

enum class TopologyLevel : std::uint32_t {
  internal = 0,
  single_switch = 10,
  multiple_switches = 20,
  host_bridge = 30,
  node = 40,
  system = 50,
};
enum class P2pCapability : std::uint32_t { read = 0, write = 1, nvlink = 2, atomics = 3, pci = 4 };
enum class P2pStatus : std::uint32_t {
  ok = 0,
  chipset_not_supported = 1,
  gpu_not_supported = 2,
  ioh_topology_not_supported = 3,
  disabled_by_regkey = 4,
  not_supported = 5,
  unknown = 6,
};

/// GpuFabricInfo state (12.0): one byte, so an unsigned char and no int.
enum class FabricState : std::uint8_t {
  not_supported = 0,
  not_started = 1,
  in_progress = 2,
  completed = 3,
};
enum class FabricHealth : std::uint8_t {  // (13.0)
  not_supported = 0,
  healthy = 1,
  unhealthy = 2,
  limited_capacity = 3,
};
/// Sub-fields of the fabric health mask. Two-bit ones: 0 not supported, 1 true, 2 false.
struct MaskField {
  unsigned shift;
  std::uint32_t mask;
  [[nodiscard]] constexpr std::uint32_t of(std::uint32_t word) const {
    return (word >> shift) & mask;
  }
};
inline constexpr MaskField fabric_degraded_bandwidth{0, 0x3};       // (12.4)
inline constexpr MaskField fabric_route_recovery{2, 0x3};           // (12.8)
inline constexpr MaskField fabric_route_unhealthy{4, 0x3};          // (12.8)
inline constexpr MaskField fabric_access_timeout_recovery{6, 0x3};  // (12.8)
/// 1 none, 2 system GUID, 3 chassis serial, 4 no partition, 5 too few NVLinks.
inline constexpr MaskField fabric_incorrect_configuration{8, 0xF};  // (13.0)

/// Which member of Value a field value or a sample fills.
enum class ValueType : std::uint32_t {
  double_value = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,      // (12.2)
  unsigned_short = 6,  // (12.6)
};
enum class SamplingType : std::uint32_t {
  total_power = 0,
  gpu_utilization = 1,
  memory_utilization = 2,
  encoder_utilization = 3,
  decoder_utilization = 4,
  processor_clock = 5,
  memory_clock = 6,
  module_power = 7,     // (12.2)
  jpg_utilization = 8,  // (12.4)
  ofa_utilization = 9,  // (12.4)
};

/// scopeId of the power fields (12.2).
enum class PowerScope : std::uint8_t { gpu = 0, module = 1, memory = 2 };

}  // namespace stoker::nvml::abi
