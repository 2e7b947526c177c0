// NVML's multi-instance GPU: profiles, placements, GPU and compute instances. Stage: device.
#pragma once

#include "device/nvml/declarations.h"

namespace stoker::nvml::abi {

inline constexpr unsigned mig_disable = 0;
inline constexpr unsigned mig_enable = 1;

/// Profile numbers to ask for; the `id` that an answer holds is the card's, and another number.
enum class GpuInstanceProfile : std::uint32_t {
  slices_1 = 0x0,
  slices_2 = 0x1,
  slices_3 = 0x2,
  slices_4 = 0x3,
  slices_7 = 0x4,
  slices_8 = 0x5,             // (11.1)
  slices_6 = 0x6,             // (11.2)
  slices_1_rev1 = 0x7,        // (11.4) with media engines: "1g.10gb+me"
  slices_2_rev1 = 0x8,        // (12.0)
  slices_1_rev2 = 0x9,        // (12.0) twice the memory: "1g.20gb"
  slices_1_graphics = 0xA,    // (12.8)
  slices_2_graphics = 0xB,    // (12.8)
  slices_4_graphics = 0xC,    // (12.8)
  slices_1_no_media = 0xD,    // (12.9)
  slices_2_no_media = 0xE,    // (12.9)
  slices_1_all_media = 0xF,   // (12.9)
  slices_2_all_media = 0x10,  // (12.9)
  slices_3_graphics = 0x11,   // (13.2)
};
/// Ask 0 up to here; a driver that knows fewer answers invalid_argument.
inline constexpr unsigned gpu_instance_profile_count = 0x12;

enum class ComputeInstanceProfile : std::uint32_t {
  slices_1 = 0x0,
  slices_2 = 0x1,
  slices_3 = 0x2,
  slices_4 = 0x3,
  slices_7 = 0x4,
  slices_8 = 0x5,
  slices_6 = 0x6,
  slices_1_rev1 = 0x7,    // (12.0)
  slices_7_nvlink = 0x8,  // (13.3)
};
inline constexpr unsigned compute_instance_profile_count = 0x9;
inline constexpr unsigned compute_instance_engine_shared = 0;

/// Bits of GpuInstanceProfileInfoV3::capabilities.
inline constexpr std::uint32_t gpu_instance_capability_p2p = 0x1;
inline constexpr std::uint32_t gpu_instance_capability_graphics = 0x2;  // (12.8)

/// What nvmlDeviceGetAttributes (no suffix) fills; _v2 fills Attributes.
struct AttributesV1 {  // header 11.0 only
  std::uint32_t multiprocessors;
  std::uint32_t shared_copy_engines;
  std::uint32_t shared_decoders;
  std::uint32_t shared_encoders;
  std::uint32_t shared_jpeg_engines;
  std::uint32_t shared_ofa_engines;
};
static_assert(sizeof(AttributesV1) == 24);

struct Attributes {  // (11.1)
  std::uint32_t multiprocessors;
  std::uint32_t shared_copy_engines;
  std::uint32_t shared_decoders;
  std::uint32_t shared_encoders;
  std::uint32_t shared_jpeg_engines;
  std::uint32_t shared_ofa_engines;
  std::uint32_t gpu_instance_slices;
  std::uint32_t compute_instance_slices;
  std::uint64_t memory_mib;
};
static_assert(sizeof(Attributes) == 40 && offsetof(Attributes, memory_mib) == 32);

/// Slices of memory that an instance covers, for GPU and for compute instances alike.
struct Placement {
  std::uint32_t start;
  std::uint32_t size;
};
static_assert(sizeof(Placement) == 8);

struct GpuInstanceProfileInfoV1 {
  std::uint32_t id;
  std::uint32_t p2p_supported;
  std::uint32_t slices;
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpeg_engines;
  std::uint32_t ofa_engines;
  std::uint64_t memory_mib;
};
static_assert(sizeof(GpuInstanceProfileInfoV1) == 48);

struct GpuInstanceProfileInfoV2 {  // (11.6)
  std::uint32_t version;
  std::uint32_t id;
  std::uint32_t p2p_supported;
  std::uint32_t slices;
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpeg_engines;
  std::uint32_t ofa_engines;
  std::uint64_t memory_mib;
  char name[name_v2_size];
};
static_assert(sizeof(GpuInstanceProfileInfoV2) == 152);
static_assert(offsetof(GpuInstanceProfileInfoV2, memory_mib) == 48);
static_assert(version_tag<GpuInstanceProfileInfoV2>(2) == 0x2000098);

struct GpuInstanceProfileInfoV3 {  // (12.3); as long as v2, one member fewer, one more
  std::uint32_t version;
  std::uint32_t id;
  std::uint32_t slices;
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t copy_engines;
  std::uint32_t decoders;
  std::uint32_t encoders;
  std::uint32_t jpeg_engines;
  std::uint32_t ofa_engines;
  std::uint64_t memory_mib;
  char name[name_v2_size];
  std::uint32_t capabilities;
};
static_assert(sizeof(GpuInstanceProfileInfoV3) == 152);
static_assert(offsetof(GpuInstanceProfileInfoV3, memory_mib) == 40);
static_assert(version_tag<GpuInstanceProfileInfoV3>(3) == 0x3000098);

struct GpuInstanceInfo {
  Device device;
  std::uint32_t id;
  std::uint32_t profile_id;
  Placement placement;
};
static_assert(sizeof(GpuInstanceInfo) == 24 && offsetof(GpuInstanceInfo, placement) == 16);

struct ComputeInstanceProfileInfoV1 {
  std::uint32_t id;
  std::uint32_t slices;
  std::uint32_t instances;
  std::uint32_t multiprocessors;
  std::uint32_t shared_copy_engines;
  std::uint32_t shared_decoders;
  std::uint32_t shared_encoders;
  std::uint32_t shared_jpeg_engines;
  std::uint32_t shared_ofa_engines;
};
static_assert(sizeof(ComputeInstanceProfileInfoV1) == 36);

struct ComputeInstanceProfileInfoV2 {  // (11.6)
  std::uint32_t version;
  ComputeInstanceProfileInfoV1 info;
  char name[name_v2_size];
};
static_assert(sizeof(ComputeInstanceProfileInfoV2) == 136);
static_assert(version_tag<ComputeInstanceProfileInfoV2>(2) == 0x2000088);

struct ComputeInstanceProfileInfoV3 {  // (12.3)
  std::uint32_t version;
  ComputeInstanceProfileInfoV1 info;
  char name[name_v2_size];
  std::uint32_t capabilities;
};
static_assert(sizeof(ComputeInstanceProfileInfoV3) == 140);
static_assert(version_tag<ComputeInstanceProfileInfoV3>(3) == 0x300008c);

/// What nvmlComputeInstanceGetInfo (no suffix) fills; _v2 fills ComputeInstanceInfo.
struct ComputeInstanceInfoV1 {
  Device device;
  GpuInstance gpu_instance;
  std::uint32_t id;
  std::uint32_t profile_id;
};
static_assert(sizeof(ComputeInstanceInfoV1) == 24);

struct ComputeInstanceInfo {  // (11.2)
  Device device;
  GpuInstance gpu_instance;
  std::uint32_t id;
  std::uint32_t profile_id;
  Placement placement;
};
static_assert(sizeof(ComputeInstanceInfo) == 32 && offsetof(ComputeInstanceInfo, placement) == 24);

}  // namespace stoker::nvml::abi
