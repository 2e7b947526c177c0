// The structs of NVML's C ABI for whole GPUs and the system. Field names are ours where the ABI
// fixes only order and size; MIG, GPM and events have files of their own, functions.h takes in all.
// Sizes are asserted below and again by abi_table_test.cpp against the table of driver branches.
#pragma once

#include "device/nvml/enums.h"

namespace stoker::nvml::abi {

/// What a struct's `version` must hold: its own size, and its version in the top byte.
template <typename Struct>
[[nodiscard]] constexpr std::uint32_t version_tag(std::uint32_t version) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | (version << 24U);
}

// ---- identity

struct PciInfo {
  char bus_id_legacy[pci_bus_id_legacy_size];  // "0000:bb:dd.0"
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;  // device in the upper, vendor in the lower 16 bits
  std::uint32_t subsystem_id;
  char bus_id[pci_bus_id_size];  // "0000dddd:bb:dd.0"
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct PciInfoExtV1 {  // (12.4)
  std::uint32_t version;
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;
  std::uint32_t subsystem_id;
  std::uint32_t base_class;
  std::uint32_t sub_class;
  char bus_id[pci_bus_id_size];
};
static_assert(sizeof(PciInfoExtV1) == 64 && version_tag<PciInfoExtV1>(1) == 0x1000040);

struct BridgeChip {
  std::uint32_t type;
  std::uint32_t firmware_version;
};
struct BridgeChipHierarchy {
  std::uint8_t count;
  BridgeChip chips[max_bridge_chips];
};
static_assert(sizeof(BridgeChipHierarchy) == 1028 && offsetof(BridgeChipHierarchy, chips) == 4);

struct PlatformInfoV2 {  // (12.8); v1 has the same size and other names
  std::uint32_t version;
  std::uint8_t ib_guid[16];
  std::uint8_t chassis_serial[16];
  std::uint8_t slot;
  std::uint8_t tray;
  std::uint8_t host_id;
  std::uint8_t peer_type;
  std::uint8_t module_id;
};
static_assert(sizeof(PlatformInfoV2) == 44 && version_tag<PlatformInfoV2>(2) == 0x200002c);

struct C2cModeInfoV1 {  // (12.3); carries no version field
  std::uint32_t enabled;
};
static_assert(sizeof(C2cModeInfoV1) == 4);

struct AddressingModeV1 {  // (13.0)
  std::uint32_t version;
  std::uint32_t mode;  // 0 none, 1 HMM, 2 ATS
};
static_assert(sizeof(AddressingModeV1) == 8);

// ---- utilisation, memory, clocks, power, temperature

struct Utilization {
  std::uint32_t gpu_percent;
  std::uint32_t memory_percent;
};
static_assert(sizeof(Utilization) == 8);

struct Memory {  // used includes what the driver reserves
  std::uint64_t total_bytes;
  std::uint64_t free_bytes;
  std::uint64_t used_bytes;
};
static_assert(sizeof(Memory) == 24);

/// nvidia-smi -q on 580 prints total = reserved + used + free, so `used` leaves reserved out there,
/// though headers since 11.6 say that it is in.
struct MemoryV2 {  // (11.6)
  std::uint32_t version;
  std::uint64_t total_bytes;
  std::uint64_t reserved_bytes;
  std::uint64_t free_bytes;
  std::uint64_t used_bytes;
};
static_assert(sizeof(MemoryV2) == 40 && version_tag<MemoryV2>(2) == 0x2000028);
static_assert(offsetof(MemoryV2, total_bytes) == 8);

struct Bar1Memory {
  std::uint64_t total_bytes;
  std::uint64_t free_bytes;
  std::uint64_t used_bytes;
};
static_assert(sizeof(Bar1Memory) == 24);

struct TemperatureV1 {  // (12.8)
  std::uint32_t version;
  TemperatureSensor sensor;
  std::int32_t celsius;
};
static_assert(sizeof(TemperatureV1) == 12 && version_tag<TemperatureV1>(1) == 0x100000c);

struct MarginTemperatureV1 {  // (12.8); degrees left before the card slows down
  std::uint32_t version;
  std::int32_t celsius;
};
static_assert(sizeof(MarginTemperatureV1) == 8);

struct ThermalSensor {
  std::int32_t controller;
  std::int32_t default_min;
  std::int32_t default_max;
  std::int32_t current;
  std::int32_t target;
};
struct ThermalSettings {  // (11.7)
  std::uint32_t count;
  ThermalSensor sensors[max_thermal_sensors];
};
static_assert(sizeof(ThermalSettings) == 64);

struct FanSpeedInfoV1 {  // (12.8)
  std::uint32_t version;
  std::uint32_t fan;
  std::uint32_t rpm;
};
static_assert(sizeof(FanSpeedInfoV1) == 12);

struct UtilizationDomain {
  std::uint32_t present;
  std::uint32_t percent;
  std::uint32_t increase_threshold;
  std::uint32_t decrease_threshold;
};
struct DynamicPstatesInfo {  // (11.7); domains: 0 graphics, 1 frame buffer, 2 video, 3 bus
  std::uint32_t flags;
  UtilizationDomain domains[max_utilization_domains];
};
static_assert(sizeof(DynamicPstatesInfo) == 132);

struct ClockFault {
  std::uint32_t api_domain;
  std::uint32_t fault_mask;
};
struct ClockMonitorStatus {  // (11.4)
  std::uint32_t global_fault;
  std::uint32_t count;
  ClockFault faults[max_clock_domains];
};
static_assert(sizeof(ClockMonitorStatus) == 264);

struct PowerValueV2 {  // (12.2)
  std::uint32_t version;
  PowerScope scope;
  std::uint32_t milliwatts;
};
static_assert(sizeof(PowerValueV2) == 12 && offsetof(PowerValueV2, milliwatts) == 8);

struct ViolationTime {
  std::uint64_t reference_us;
  std::uint64_t violation_ns;
};
static_assert(sizeof(ViolationTime) == 16);

/// Filled by field values and samples. Which member is valid is said by a ValueType beside it.
union Value {
  double as_double;
  std::int32_t as_signed_int;
  std::uint32_t as_unsigned_int;
  unsigned long as_unsigned_long;
  std::uint64_t as_unsigned_long_long;
  std::int64_t as_signed_long_long;
  std::uint16_t as_unsigned_short;
};
static_assert(sizeof(Value) == 8);

/// A success may leave type and value untouched (580.159.04: ids 187-190 on H100 and H200), so set
/// `type` to `unset_type` before the call and take a value only when the driver changed it.
struct FieldValue {
  std::uint32_t field_id;
  std::uint32_t scope_id;  // the link, lane, GPU instance or PowerScope, where the field has one
  std::int64_t timestamp_us;
  std::int64_t latency_us;
  ValueType type;
  Return status;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);
inline constexpr ValueType unset_type{0xFFFFFFFF};

struct Sample {
  std::uint64_t timestamp_us;
  Value value;
};
static_assert(sizeof(Sample) == 16);

// ---- processes

struct ProcessInfoV1 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
};
static_assert(sizeof(ProcessInfoV1) == 16);

struct ProcessInfoV2 {  // (11.1); what _v2 fills, and what _v3 is declared to fill
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance_id;
  std::uint32_t compute_instance_id;
};
static_assert(sizeof(ProcessInfoV2) == 24 && offsetof(ProcessInfoV2, gpu_instance_id) == 16);

/// What _v3 filled from 535.43 to 535.86, under an unchanged name; since then the entry of the
/// detail list, too. See abi_table.cpp.
struct ProcessDetailV1 {  // (12.2)
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance_id;
  std::uint32_t compute_instance_id;
  std::uint64_t protected_bytes;
};
static_assert(sizeof(ProcessDetailV1) == 32 && offsetof(ProcessDetailV1, protected_bytes) == 24);

struct ProcessDetailListV1 {  // (12.2)
  std::uint32_t version;
  std::uint32_t mode;  // 0 compute, 1 graphics, 2 MPS
  std::uint32_t count;
  ProcessDetailV1* entries;
};
static_assert(sizeof(ProcessDetailListV1) == 24);

struct ProcessUtilizationSample {
  std::uint32_t pid;
  std::uint64_t timestamp_us;
  std::uint32_t sm_percent;
  std::uint32_t memory_percent;
  std::uint32_t encoder_percent;
  std::uint32_t decoder_percent;
};
static_assert(sizeof(ProcessUtilizationSample) == 32);

struct ProcessUtilizationInfoV1 {  // (12.4)
  std::uint64_t timestamp_us;
  std::uint32_t pid;
  std::uint32_t sm_percent;
  std::uint32_t memory_percent;
  std::uint32_t encoder_percent;
  std::uint32_t decoder_percent;
  std::uint32_t jpg_percent;
  std::uint32_t ofa_percent;
};
static_assert(sizeof(ProcessUtilizationInfoV1) == 40);

struct ProcessesUtilizationInfoV1 {  // (12.4)
  std::uint32_t version;
  std::uint32_t count;
  std::uint64_t last_seen_us;
  ProcessUtilizationInfoV1* entries;
};
static_assert(sizeof(ProcessesUtilizationInfoV1) == 24);

struct AccountingStats {
  std::uint32_t gpu_percent;
  std::uint32_t memory_percent;
  std::uint64_t max_memory_bytes;
  std::uint64_t time_ms;
  std::uint64_t start_time_us;
  std::uint32_t running;
  std::uint32_t reserved[5];
};
static_assert(sizeof(AccountingStats) == 56);

// ---- memory errors and repair

struct EccErrorCounts {
  std::uint64_t l1_cache;
  std::uint64_t l2_cache;
  std::uint64_t device_memory;
  std::uint64_t register_file;
};
static_assert(sizeof(EccErrorCounts) == 32);

struct SramEccErrorStatusV1 {  // (12.4)
  std::uint32_t version;
  std::uint64_t aggregate_uncorrected_parity;
  std::uint64_t aggregate_uncorrected_sec_ded;
  std::uint64_t aggregate_corrected;
  std::uint64_t volatile_uncorrected_parity;
  std::uint64_t volatile_uncorrected_sec_ded;
  std::uint64_t volatile_corrected;
  std::uint64_t aggregate_uncorrected_l2;
  std::uint64_t aggregate_uncorrected_sm;
  std::uint64_t aggregate_uncorrected_pcie;
  std::uint64_t aggregate_uncorrected_microcontroller;
  std::uint64_t aggregate_uncorrected_other;
  std::uint32_t threshold_exceeded;
};
static_assert(sizeof(SramEccErrorStatusV1) == 104);

struct RowRemapperHistogram {  // (11.1); banks by how many spare rows are left
  std::uint32_t max;
  std::uint32_t high;
  std::uint32_t partial;
  std::uint32_t low;
  std::uint32_t none;
};
static_assert(sizeof(RowRemapperHistogram) == 20);

struct RemappedRowsV2 {  // (13.2); carries no version field
  std::uint32_t corrected_active;
  std::uint32_t corrected_inactive;
  std::uint32_t uncorrected_active;
  std::uint32_t uncorrected_inactive;
  std::uint32_t pending;
  std::uint32_t failed;
};
static_assert(sizeof(RemappedRowsV2) == 24);

struct RepairStatusV1 {  // (13.0)
  std::uint32_t version;
  std::uint32_t channel_repair_pending;
  std::uint32_t tpc_repair_pending;
};
static_assert(sizeof(RepairStatusV1) == 12 && version_tag<RepairStatusV1>(1) == 0x100000c);

// ---- NVLink and fabric

struct FabricInfo {  // (12.0)
  std::uint8_t cluster_uuid[fabric_uuid_size];
  Return status;
  std::uint32_t clique_id;
  FabricState state;
};
static_assert(sizeof(FabricInfo) == 28);

struct FabricInfoV2 {  // (12.4)
  std::uint32_t version;
  std::uint8_t cluster_uuid[fabric_uuid_size];
  Return status;
  std::uint32_t clique_id;
  FabricState state;
  std::uint32_t health_mask;
};
static_assert(sizeof(FabricInfoV2) == 36 && version_tag<FabricInfoV2>(2) == 0x2000024);

struct FabricInfoV3 {  // (13.0)
  std::uint32_t version;
  std::uint8_t cluster_uuid[fabric_uuid_size];
  Return status;
  std::uint32_t clique_id;
  FabricState state;
  std::uint32_t health_mask;
  FabricHealth health;
};
static_assert(sizeof(FabricInfoV3) == 40 && version_tag<FabricInfoV3>(3) == 0x3000028);
static_assert(offsetof(FabricInfoV3, health_mask) == 32 && offsetof(FabricInfoV3, health) == 36);

}  // namespace stoker::nvml::abi
