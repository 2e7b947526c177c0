// NVML's event sets: an Xid, an ECC error or a clock change as the driver tells it. Stage: device.
// Only asked-for types arrive; clock changes flood (1,066 of 1,070 events captured on four H200).
#pragma once

#include "device/nvml/enums.h"

namespace stoker::nvml::abi {

/// Bits of an event type mask. No note: header 11.0.
namespace event_type {
inline constexpr std::uint64_t single_bit_ecc = 0x1;
inline constexpr std::uint64_t double_bit_ecc = 0x2;
inline constexpr std::uint64_t pstate = 0x4;
inline constexpr std::uint64_t xid_critical = 0x8;
inline constexpr std::uint64_t clock = 0x10;
inline constexpr std::uint64_t power_source_change = 0x80;
inline constexpr std::uint64_t mig_config_change = 0x100;
inline constexpr std::uint64_t single_bit_ecc_storm = 0x200;     // (12.6)
inline constexpr std::uint64_t dram_retirement = 0x400;          // (12.6)
inline constexpr std::uint64_t dram_retirement_failure = 0x800;  // (12.6)
inline constexpr std::uint64_t non_fatal_poison = 0x1000;        // (12.6)
inline constexpr std::uint64_t fatal_poison = 0x2000;            // (12.6)
inline constexpr std::uint64_t gpu_unavailable = 0x4000;         // (12.8)
inline constexpr std::uint64_t gpu_recovery_action = 0x8000;     // (12.8)
}  // namespace event_type

/// Use nvmlEventSetWait_v2: which of these members the name without suffix fills, no header says.
struct EventData {
  Device device;
  std::uint64_t type;
  std::uint64_t data;  // the Xid, for xid_critical
  std::uint32_t gpu_instance_id;
  std::uint32_t compute_instance_id;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance_id) == 24);

}  // namespace stoker::nvml::abi
