#include "cluster/holds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace stoker::cluster {
namespace {

using device::GpuInfo;

// As many as the largest node can have holds: 64 GPUs of 64 replicas each.
constexpr std::size_t most_holds = 4096;

std::pair<std::string_view, std::string_view> split(std::string_view text, std::string_view at) {
  const auto place = text.find(at);
  if (place == std::string_view::npos) return {text, {}};
  return {text.substr(0, place), text.substr(place + at.size())};
}

// The UUIDs that names stand for; empty: none that is here.
class Inventory {
 public:
  explicit Inventory(const std::vector<GpuInfo>& gpus) : gpus_(gpus) {}

  [[nodiscard]] std::string by_uuid(std::string_view uuid) const {
    if (uuid.starts_with("MIG-GPU-")) return by_legacy_mig(uuid.substr(4));
    for (const GpuInfo& gpu : gpus_) {
      if (gpu.uuid == uuid) return gpu.uuid;
      for (const auto& mig : gpu.migs) {
        if (mig.uuid == uuid) return mig.uuid;
      }
    }
    return {};
  }
  [[nodiscard]] std::string by_index(std::string_view text) const {
    return by_number(text, &GpuInfo::index);
  }
  [[nodiscard]] std::string by_minor(std::string_view text) const {
    return by_number(text, &GpuInfo::minor);
  }
  // "gi1" of the GPU with this minor number; a GPU instance that is shared out among several compute
  // instances says nothing.
  [[nodiscard]] std::string by_instance(std::string_view minor, std::string_view instance) const {
    const auto number = whole_number<std::uint32_t>(
        instance.starts_with("gi") ? instance.substr(2) : std::string_view());
    const GpuInfo* gpu = find(minor, &GpuInfo::minor);
    if (gpu == nullptr || !number) return {};
    return only_mig(*gpu, [&](const auto& mig) { return mig.gpu_instance == *number; });
  }
  // NVIDIA's driver calls a MIG device "gpu-<minor>-mig-<profile without dots>-<profile's number>-<start>"
  // (kubernetes-sigs/dra-driver-nvidia-gpu). Where it starts NVML does not tell, so the profile has to
  // be the only one of its kind on that GPU.
  [[nodiscard]] std::string by_driver_name(std::string_view name) const {
    if (!name.starts_with("gpu-")) return {};
    const auto [minor, rest] = split(name.substr(4), "-");
    if (rest.empty()) return by_minor(minor);
    const GpuInfo* gpu = find(minor, &GpuInfo::minor);
    if (gpu == nullptr || !rest.starts_with("mig-")) return {};
    const std::string_view profile = split(rest.substr(4), "-").first;
    return only_mig(*gpu, [&](const auto& mig) {
      std::string plain = mig.profile;
      std::erase(plain, '.');
      return plain == profile;
    });
  }

 private:
  [[nodiscard]] const GpuInfo* find(std::string_view text, std::uint32_t GpuInfo::* number) const {
    const auto wanted = whole_number<std::uint32_t>(text);
    const auto at = std::ranges::find_if(gpus_, [&](const GpuInfo& gpu) {
      return wanted && gpu.*number == *wanted && !gpu.uuid.empty();  // empty: never opened
    });
    return at == gpus_.end() ? nullptr : &*at;
  }
  [[nodiscard]] std::string by_number(std::string_view text,
                                      std::uint32_t GpuInfo::* number) const {
    const GpuInfo* gpu = find(text, number);
    return gpu == nullptr ? std::string() : gpu->uuid;
  }
  // "GPU-.../7/0": parent, GPU instance, compute instance, as before driver 470.
  [[nodiscard]] std::string by_legacy_mig(std::string_view name) const {
    const auto [uuid, places] = split(name, "/");
    const auto [gi, ci] = split(places, "/");
    const auto gpu_instance = whole_number<std::uint32_t>(gi);
    const auto compute_instance = whole_number<std::uint32_t>(ci);
    for (const GpuInfo& gpu : gpus_) {
      if (gpu.uuid != uuid || !gpu_instance || !compute_instance) continue;
      return only_mig(gpu, [&](const auto& mig) {
        return mig.gpu_instance == *gpu_instance && mig.compute_instance == *compute_instance;
      });
    }
    return {};
  }
  template <typename Is>
  static std::string only_mig(const GpuInfo& gpu, const Is& is) {
    if (std::ranges::count_if(gpu.migs, is) != 1) return {};
    return std::ranges::find_if(gpu.migs, is)->uuid;
  }

  const std::vector<GpuInfo>& gpus_;
};

std::string uuid_of_plugin_id(const Inventory& inventory, std::string_view id) {
  if (!id.starts_with("nvidia")) return inventory.by_uuid(id);
  const auto [minor, instance] = split(id.substr(6), "/");
  return instance.empty() ? inventory.by_minor(minor) : inventory.by_instance(minor, instance);
}

// "nvidia.com/gpu=0", "nvidia.com/gpu=GPU-...", "k8s.gpu.nvidia.com/device=gpu-0": vendor, class and
// name, https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md. nvidia-ctk names
// devices by index ("0", "gpu0") or UUID; "0:1" is the index of a MIG device, which has holes, and
// "all" is no device.
std::string uuid_of_cdi(const Inventory& inventory, std::string_view qualified) {
  const auto [kind, name] = split(qualified, "=");
  if (!split(kind, "/").first.ends_with("nvidia.com")) return {};
  if (std::string uuid = inventory.by_uuid(name); !uuid.empty()) return uuid;
  if (kind != "nvidia.com/gpu") return {};
  return inventory.by_index(name.starts_with("gpu") ? name.substr(3) : name);
}

std::string uuid_of_claimed(const Inventory& inventory, const ClaimedDevice& claimed) {
  for (const auto& name : claimed.cdi_devices) {
    if (std::string uuid = uuid_of_cdi(inventory, name); !uuid.empty()) return uuid;
  }
  if (std::string uuid = inventory.by_uuid(claimed.device); !uuid.empty()) return uuid;
  if (claimed.driver != "gpu.nvidia.com") return {};
  return inventory.by_driver_name(claimed.device);
}

class Mapper {
 public:
  explicit Mapper(const std::vector<GpuInfo>& gpus) : inventory_(gpus) {}

  void take(const ContainerResources& container) {
    const PodContainer holder{.pod = container.pod,
                              .pod_namespace = container.pod_namespace,
                              .container = container.container};
    for (const PluginDevices& devices : container.devices) {
      for (const std::string& id : devices.ids) take_plugin(holder, devices.resource, id);
    }
    for (const ClaimedDevice& claimed : container.claimed) take_claimed(holder, claimed);
  }

  Holds result() { return std::move(holds_); }

 private:
  void take_plugin(const PodContainer& holder, const std::string& resource, std::string_view id) {
    auto [device, replica] = split(id, "::");
    // GKE's time-sharing: "nvidia0/vgpu2", "nvidia0/gi1/vgpu2".
    if (device.starts_with("nvidia") && replica.empty()) {
      std::tie(device, replica) = split(device, "/vgpu");
    }
    DeviceHold hold{.holder = holder, .resource = resource, .replica = std::string(replica)};
    put(uuid_of_plugin_id(inventory_, device), resource.starts_with("nvidia.com/"),
        std::move(hold));
  }

  void take_claimed(const PodContainer& holder, const ClaimedDevice& claimed) {
    DeviceHold hold{.holder = holder,
                    .claim = claimed.claim,
                    .claim_namespace = claimed.claim_namespace,
                    .driver = claimed.driver,
                    .pool = claimed.pool,
                    .device = claimed.device};
    put(uuid_of_claimed(inventory_, claimed), claimed.driver.ends_with("nvidia.com"),
        std::move(hold));
  }

  void put(std::string uuid, bool is_gpus, DeviceHold hold) {
    if ((uuid.empty() && !is_gpus) || count_ >= most_holds) return;
    ++count_;
    auto& list = uuid.empty() ? holds_.unmapped : holds_.by_uuid[std::move(uuid)];
    list.push_back(std::move(hold));
  }

  const Inventory inventory_;
  Holds holds_;
  std::size_t count_ = 0;
};

}  // namespace

Holds map_holds(const PodResources& resources, const std::vector<GpuInfo>& gpus) {
  Mapper mapper(gpus);
  for (const ContainerResources& container : resources) mapper.take(container);
  return mapper.result();
}

}  // namespace stoker::cluster
