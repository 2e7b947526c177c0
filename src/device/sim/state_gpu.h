// Simulated driver: one GPU as the state file holds it, and the small records it is made of. Plain
// data of fixed size, without pointers: it is mapped by processes that know nothing of each other.
// Strings are zero-terminated; numbers that NVML enumerates (brand, architecture, codes) are NVML's.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker::sim {

inline constexpr unsigned max_gpus = 16;
inline constexpr unsigned max_links = 36;  // NVML_NVLINK_MAX_LINKS of header 13.3
inline constexpr unsigned max_processes = 32;
inline constexpr unsigned max_answers = 160;
inline constexpr unsigned max_field_values = 320;
inline constexpr unsigned max_memory_clocks = 8;
inline constexpr unsigned max_retired_pages = 16;  // a cause
inline constexpr unsigned max_mig_profiles = 18;
inline constexpr unsigned max_placements = 8;  // a profile
inline constexpr unsigned max_compute_profiles = 8;
inline constexpr unsigned max_gpu_instances = 8;
inline constexpr unsigned max_compute_instances = 8;  // a GPU instance

/// Functions are named by the FNV-1a hash of their symbol, so that rows don't depend on the order of
/// functions.def. 0 is no function.
[[nodiscard]] constexpr std::uint32_t name_hash(std::string_view symbol) {
  std::uint32_t hash = 2166136261U;
  for (const char c : symbol) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}

enum class Presence : std::uint32_t {
  absent = 0,  ///< an unused row
  present = 1,
  lost = 2,      ///< every call on it is GPU_IS_LOST; a new client still counts it (Xid 79)
  vanished = 3,  ///< as lost for old handles; a new client does not see it at all
};

/// What runs on a GPU. Each kind's numbers come from a trace on real cards: load_model.cpp.
enum class LoadKind : std::uint32_t {
  idle = 0,           ///< no process
  training = 1,       ///< matmuls and all-reduce
  decode = 2,         ///< inference, memory bound
  hung_waiting = 3,   ///< waits in a collective that never ends: 100 %, and does nothing
  hung_missing = 4,   ///< holds a context and launches nothing
  starved = 5,        ///< short bursts, then waits for its input
  alu = 6,            ///< fp32 arithmetic in registers
  pipeline_wait = 7,  ///< waits in recv for a peer that works
  inherit = 255,      ///< of a GPU instance only: its share of the GPU's load
};

/// A load and what the GPU was when it began, so that temperature and energy go on from there.
struct Load {
  LoadKind kind;
  std::int32_t start_temperature_mc;  // thousandths of a degree
  std::uint64_t seed;
  std::uint64_t start_ns;         // of the state's clock (Clock in state.h)
  std::uint64_t start_energy_uj;  // since the driver was loaded
  std::uint64_t start_pcie_tx_bytes;
  std::uint64_t start_pcie_rx_bytes;
  std::uint64_t start_nvlink_tx_bytes;
  std::uint64_t start_nvlink_rx_bytes;
};

/// What the load model scales by: the product's own range between idle and full.
struct Envelope {
  std::uint32_t idle_power_mw;  // no process
  std::uint32_t held_power_mw;  // a process holds a context and nothing runs
  std::uint32_t full_power_mw;  // the densest load at the default limit
  std::int32_t idle_temperature_c;
  std::int32_t full_temperature_c;
  std::int32_t memory_temperature_above_c;  // memory is so much warmer than the GPU
  std::uint32_t thermal_time_ms;            // time constant
  std::uint32_t reserved;
  std::uint64_t pcie_bytes_per_second;    // one direction, at full
  std::uint64_t nvlink_bytes_per_second;  // one direction, all links
};

/// What faults add to the model. All zero: nothing is wrong.
struct Disturbance {
  std::int32_t temperature_mc;         // added; beyond a threshold, clocks and reasons follow
  std::int32_t memory_temperature_mc;  // added
  std::int32_t power_mw;               // added
  std::uint32_t sm_clock_limit_mhz;    // 0: none
  std::uint64_t clocks_event_reasons;  // or-ed in
};

struct PciFacts {
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;  // device in the upper, vendor in the lower 16 bits
  std::uint32_t subsystem_id;
  std::uint32_t base_class;
  std::uint32_t sub_class;
  std::uint32_t generation;      // of the link now
  std::uint32_t max_generation;  // of card and slot together
  std::uint32_t gpu_max_generation;
  std::uint32_t width;
  std::uint32_t max_width;
  std::uint32_t speed_mtps;      // nvmlDeviceGetPcieSpeed: 32000 for generation 5
  std::uint32_t max_speed_code;  // nvmlDeviceGetPcieLinkMaxSpeed: 5 for 32000
  std::uint32_t replays;
  std::uint32_t irq;
};

struct Identity {
  char name[96];
  char uuid[80];
  char serial[32];
  char part_number[80];
  char vbios[32];
  char inforom_image[16];
  char inforom_object[4][16];  // OEM, ECC, power, DEN
  char gsp_firmware[64];
  std::uint32_t inforom_checksum;
  std::uint32_t minor;
  std::uint32_t board_id;
  std::uint32_t module_id;
  std::uint32_t multi_gpu_board;
  std::uint32_t brand;
  std::uint32_t architecture;
  std::uint32_t bus_type;
  std::int32_t compute_major;
  std::int32_t compute_minor;
  std::uint32_t cores;
  std::uint32_t multiprocessors;
  std::uint32_t gsp_enabled;
  std::uint32_t gsp_default;
  std::uint32_t virtualization_mode;
  std::uint32_t power_source;
  std::uint32_t addressing_mode;
  std::uint32_t c2c_enabled;
  std::int32_t numa_node;  // -1: none
  std::uint32_t gpm_supported;
  std::uint64_t cpu_affinity[16];  // bit n: CPU n
  std::uint64_t memory_affinity[4];
  std::uint64_t supported_event_types;
};

struct MemoryFacts {
  std::uint64_t total_bytes;
  std::uint64_t reserved_bytes;   // by driver and firmware
  std::uint64_t idle_used_bytes;  // besides reserved, with no process
  std::uint64_t bar1_total_bytes;
  std::uint64_t bar1_used_bytes;
  std::uint32_t bus_width_bits;
  std::uint32_t reserved;
};

/// Index of arrays by clock: 0 graphics, 1 SM, 2 memory, 3 video.
struct ClockFacts {
  std::uint32_t idle_mhz[4];
  std::uint32_t busy_mhz[4];  // under load, with power to spare
  std::uint32_t max_mhz[4];
  std::uint32_t max_customer_boost_mhz[4];
  std::uint32_t default_application_mhz[4];
  std::uint32_t application_mhz[4];
  std::uint32_t locked_min_mhz;  // 0 and 0: not locked
  std::uint32_t locked_max_mhz;
  std::uint32_t memory_clock_count;
  std::uint32_t idle_pstate;  // 0 where the card stays in P0, as HBM cards do
  struct Row {  // graphics clocks that go with a memory clock: every step from max down to min
    std::uint32_t memory_mhz;
    std::uint32_t graphics_min_mhz;
    std::uint32_t graphics_max_mhz;
    std::uint32_t step_mhz;
  } rows[max_memory_clocks];
  std::uint64_t supported_reasons;  // bits of nvmlDeviceGetSupportedClocksEventReasons
};

struct PowerFacts {
  std::uint32_t default_limit_mw;
  std::uint32_t limit_mw;     // as set
  std::uint32_t enforced_mw;  // what holds of all limits
  std::uint32_t min_limit_mw;
  std::uint32_t max_limit_mw;
  std::uint32_t management_mode;
  std::uint64_t violation_ns[12];  // by NVML's perf policy number
};

inline constexpr std::int32_t threshold_not_supported = INT32_MIN;
struct ThermalFacts {
  std::int32_t threshold_c[8];  // by NVML's threshold number, or threshold_not_supported
  std::uint32_t fans;
  std::uint32_t fan_percent;
  std::uint32_t fan_rpm;
  std::uint32_t reserved;
};

/// Index of arrays: [corrected, uncorrected][volatile, aggregate][NVML's memory location].
struct EccFacts {
  std::uint32_t mode;
  std::uint32_t pending_mode;
  std::uint32_t default_mode;
  std::uint32_t location_mask;  // bit n: location n is told
  std::uint64_t total[2][2];
  std::uint64_t by_location[2][2][8];
  std::uint64_t sram_aggregate_parity;  // of uncorrected SRAM errors, the parts
  std::uint64_t sram_aggregate_sec_ded;
  std::uint64_t sram_volatile_parity;
  std::uint64_t sram_volatile_sec_ded;
  std::uint64_t sram_aggregate_sources[5];  // L2, SM, PCIe, microcontroller, other
  std::uint32_t sram_threshold_exceeded;
  std::uint32_t channel_repair_pending;
  std::uint32_t tpc_repair_pending;
  std::uint32_t remapped_correctable;
  std::uint32_t remapped_uncorrectable;
  std::uint32_t remap_pending;
  std::uint32_t remap_failed;
  std::uint32_t row_histogram[5];  // max, high, partial, low, none
  std::uint32_t retired_count[2];  // multiple single-bit, double-bit
  std::uint32_t retired_pending;
  std::uint32_t reserved;
  std::uint64_t retired_address[2][max_retired_pages];
  std::uint64_t retired_time_us[2][max_retired_pages];
};

struct LinkFacts {
  std::uint32_t present;
  std::uint32_t active;
  std::uint32_t version;        // NVML's version code: 6 is NVLink 4
  std::uint32_t remote_type;    // 0 GPU, 2 NVSwitch
  std::uint32_t remote_domain;  // all ones, 255, 255: the driver hides it, as in a VM
  std::uint32_t remote_bus;
  std::uint32_t remote_device;
  std::uint32_t remote_device_id;
  std::uint32_t capabilities;  // bit n: NVML's capability n
  std::uint32_t speed_mbps;
  std::uint64_t
      errors[5];  // by NVML's counter number: replay, recovery, CRC flit, CRC data, ECC data
};

struct FabricFacts {
  std::uint8_t cluster_uuid[16];
  std::int32_t status;
  std::uint32_t clique_id;
  std::uint32_t state;
  std::uint32_t health_mask;
  std::uint32_t health;
  std::uint32_t reserved;
};

struct ModeFacts {
  std::uint32_t persistence;
  std::uint32_t compute;
  std::uint32_t display;
  std::uint32_t display_active;
  std::uint32_t accounting;
  std::uint32_t accounting_buffer;
  std::uint32_t adaptive_clock;
  std::uint32_t recovery_action;  // field id 230
};

enum class ProcessKind : std::uint32_t { none = 0, compute = 1, graphics = 2, mps = 3 };
inline constexpr std::uint32_t no_instance = 0xFFFFFFFF;
struct Process {
  ProcessKind kind;
  std::uint32_t pid;
  std::uint32_t gpu_instance;      // or no_instance
  std::uint32_t compute_instance;  // or no_instance
  std::uint64_t used_bytes;        // all ones: the driver can't tell
  char name[104];
};

/// The compute instances that a GPU instance of a profile can hold.
struct ComputeProfile {
  std::uint32_t number;  // NVML's profile number; what callers ask by
  std::uint32_t id;      // the card's number; what they create by
  std::uint32_t slices;  // 0: an unused row
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t reserved;
  char name[24];  // "1c.3g.40gb"; "MIG " before it is the library's
};

struct MigProfile {
  std::uint32_t number;  // NVML's profile number
  std::uint32_t id;      // the card's number, as nvidia-smi mig -lgip shows it
  std::uint32_t slices;  // 0: an unused row
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpeg_engines;
  std::uint32_t ofa_engines;
  std::uint32_t p2p;
  std::uint32_t capabilities;
  std::uint64_t memory_mib;
  std::uint32_t placement_size;  // in memory slices
  std::uint32_t placement_count;
  std::uint32_t placement_start[max_placements];
  char name[24];  // "1g.10gb+me"; "MIG " before it is the library's
  ComputeProfile compute[max_compute_profiles];
};

struct ComputeInstance {
  std::uint32_t used;
  std::uint32_t id;
  std::uint32_t profile;  // row of MigProfile::compute
  std::uint32_t start;    // in compute slices of the GPU instance
  std::uint32_t size;
  std::uint32_t reserved;
  char uuid[80];  // "MIG-..." of the device that it is
};

struct GpuInstance {
  std::uint32_t used;
  std::uint32_t id;
  std::uint32_t profile;  // row of MigFacts::profiles
  std::uint32_t start;    // in memory slices
  std::uint32_t size;
  std::uint32_t reserved;
  Load load;
  ComputeInstance compute[max_compute_instances];
};

struct MigFacts {
  std::uint32_t capable;  // 0: the product has no MIG
  std::uint32_t mode;
  std::uint32_t pending_mode;
  std::uint32_t max_devices;  // compute slices of the card, while MIG is on
  std::uint32_t memory_slices;
  std::uint32_t needs_reset;  // the mode changes with the next reset only (A100)
  MigProfile profiles[max_mig_profiles];
  GpuInstance instances[max_gpu_instances];
};

/// A function that answers this code on this product and nothing else (3: not supported).
struct Answer {
  std::uint32_t function;
  std::int32_t code;
};

enum class FieldSource : std::uint32_t {
  none = 0,       ///< an unused row
  constant = 1,   ///< `bits` is the value
  live = 2,       ///< from the load model and the facts above; `bits` where the library knows none
  untouched = 3,  ///< answers `code` and leaves type and value as the caller had them
};

/// One NVML field id: nvmlDeviceGetFieldValues answers not supported for ids without a row.
struct FieldRow {
  std::uint32_t id;
  FieldSource source;
  std::int32_t code;         // nvmlReturn
  std::uint32_t value_type;  // NVML's: 0 double, 1 unsigned int, 3 unsigned long long, ...
  std::uint64_t bits;        // of the value, as it lies in NVML's union
};

struct Gpu {
  Presence presence;
  std::uint32_t incarnation;  // raised when it comes back: handles of before stay lost
  Identity identity;
  PciFacts pci;
  MemoryFacts memory;
  ClockFacts clocks;
  PowerFacts power;
  ThermalFacts thermal;
  EccFacts ecc;
  FabricFacts fabric;
  ModeFacts modes;
  Envelope envelope;
  Load load;
  Disturbance disturbance;
  std::uint32_t topology_level[max_gpus];  // NVML's level to GPU n: 10, 20, 30, 40, 50
  std::uint32_t p2p_status[5][max_gpus];   // by NVML's capability number, to GPU n
  std::uint32_t link_count;                // rows of `links` that the product has
  std::uint32_t process_count;             // high-water mark of `processes`
  LinkFacts links[max_links];
  Process processes[max_processes];
  Answer answers[max_answers];
  FieldRow field_values[max_field_values];
  MigFacts mig;
};

}  // namespace stoker::sim
