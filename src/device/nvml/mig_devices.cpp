#include "device/nvml/mig_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

namespace stoker::nvml {
namespace {

// "NVIDIA H100 80GB HBM3 MIG 1g.10gb" -> "1g.10gb"; empty where the name holds no profile.
std::string profile_in_name(std::string_view name) {
  constexpr std::string_view mark = "MIG ";
  const std::size_t at = name.rfind(mark);
  return at == std::string_view::npos ? "" : std::string(name.substr(at + mark.size()));
}

// As nvidia-smi spells it from what the instance is made of: "1c." in front where the compute
// instance is only a part of its GPU instance (NVIDIA's MIG user guide, "Device names").
std::string profile_of(const abi::Attributes& attributes) {
  const std::uint64_t gib = (attributes.memory_mib + 1023) / 1024;
  const bool partial = attributes.compute_instance_slices < attributes.gpu_instance_slices;
  return fmt::format("{}{}g.{}gb",
                     partial ? fmt::format("{}c.", attributes.compute_instance_slices) : "",
                     attributes.gpu_instance_slices, gib);
}

device::MigInfo read_one(const Card& card, abi::Device mig) {
  const abi::Functions& nvml = card.nvml();
  device::MigInfo info;
  std::array<char, abi::uuid_v2_size> uuid{};
  std::array<char, abi::name_v2_size> name{};
  constexpr auto room = [](const auto& buffer) { return static_cast<unsigned>(buffer.size() - 1); };
  if (timed(card.clock(), nvml.nvmlDeviceGetUUID, mig, uuid.data(), room(uuid)).ok()) {
    info.uuid = uuid.data();
  }
  if (timed(card.clock(), nvml.nvmlDeviceGetName, mig, name.data(), room(name)).ok()) {
    info.profile = profile_in_name(name.data());
  }
  timed(card.clock(), nvml.nvmlDeviceGetGpuInstanceId, mig, &info.gpu_instance);
  timed(card.clock(), nvml.nvmlDeviceGetComputeInstanceId, mig, &info.compute_instance);
  abi::Attributes attributes{};
  if (timed(card.clock(), nvml.nvmlDeviceGetAttributes_v2, mig, &attributes).ok()) {
    info.memory_bytes = attributes.memory_mib << 20U;
    info.multiprocessors = attributes.multiprocessors;
    if (info.profile.empty()) info.profile = profile_of(attributes);
  }
  return info;
}

bool same(const std::vector<device::MigInfo>& one, const std::vector<device::MigInfo>& other) {
  const auto key = [](const device::MigInfo& mig) {
    return std::tie(mig.uuid, mig.profile, mig.gpu_instance, mig.compute_instance);
  };
  return std::ranges::equal(one, other, {}, key, key);
}

// Nothing where the call failed: that says nothing new about the mode.
std::optional<bool> mig_is_on(Card& card) {
  const abi::Functions& nvml = card.nvml();
  if (nvml.nvmlDeviceGetMigMode == nullptr) return false;
  unsigned current = abi::mig_disable;
  unsigned pending = abi::mig_disable;
  const abi::Return code =
      timed(card.clock(), nvml.nvmlDeviceGetMigMode, card.device, &current, &pending).code;
  card.mig_capable = reason_of(code) != Reason::not_supported;
  if (!card.mig_capable) return false;
  if (code != abi::Return::success) return std::nullopt;
  return current == abi::mig_enable;
}

// Nothing where the list can't be had.
std::optional<std::vector<abi::Device>> list_devices(const Card& card) {
  const abi::Functions& nvml = card.nvml();
  std::vector<abi::Device> devices;
  unsigned count = 0;
  if (nvml.nvmlDeviceGetMigDeviceHandleByIndex == nullptr ||
      !timed(card.clock(), nvml.nvmlDeviceGetMaxMigDeviceCount, card.device, &count).ok()) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < count; ++i) {
    abi::Device mig = nullptr;
    const abi::Return code =
        timed(card.clock(), nvml.nvmlDeviceGetMigDeviceHandleByIndex, card.device, i, &mig).code;
    if (code == abi::Return::success) devices.push_back(mig);
    // Not found is a free place.
    if (reason_of(code) == Reason::lost || driver_is_gone(code)) return std::nullopt;
  }
  return devices;
}

}  // namespace

bool read_mig_devices(Card& card) {
  const std::optional<bool> enabled = mig_is_on(card);
  if (!enabled.has_value()) return false;
  std::vector<abi::Device> devices;
  if (*enabled) {
    auto listed = list_devices(card);
    if (!listed.has_value()) return false;
    devices = std::move(*listed);
  }
  std::vector<device::MigInfo> migs;
  std::vector<std::uint32_t> instances;
  for (abi::Device device : devices) {
    migs.push_back(read_one(card, device));
    instances.push_back(migs.back().gpu_instance);
  }
  const bool changed = *enabled != card.info.mig_enabled || !same(migs, card.info.migs);
  card.info.mig_enabled = *enabled;
  card.info.migs = std::move(migs);
  card.mig_devices = std::move(devices);
  card.gpm.keep_instances(instances);
  return changed;
}

}  // namespace stoker::nvml
