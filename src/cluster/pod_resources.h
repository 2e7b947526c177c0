// Cluster stage: what the kubelet's pod resources API says, as plain data. cluster/kubernetes reads it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::cluster {

// Devices of a device plugin that one container holds.
struct PluginDevices {
  std::string resource;          // "nvidia.com/gpu"
  std::vector<std::string> ids;  // as the plugin named them: "GPU-...", "MIG-...", "GPU-...::3"
};

// One device of a resource claim that one container holds (dynamic resource allocation).
struct ClaimedDevice {
  std::string claim;
  std::string claim_namespace;
  std::string driver;                    // "gpu.nvidia.com"
  std::string pool;                      // the node's name as a rule
  std::string device;                    // "gpu-0"
  std::vector<std::string> cdi_devices;  // "k8s.gpu.nvidia.com/device=gpu-0"
};

struct ContainerResources {
  std::string pod;
  std::string pod_namespace;
  std::string container;
  std::vector<PluginDevices> devices;
  std::vector<ClaimedDevice> claimed;
};

using PodResources = std::vector<ContainerResources>;

struct PodsAnswer {
  PodResources containers;
  std::uint64_t kubelet = 0;  // another number than in the last answer: it has started anew since
};

// Asks for them. One thread only.
class PodResourcesSource {
 public:
  virtual ~PodResourcesSource() = default;
  // Every container of this node that holds a device. Errors: not_found (no kubelet here),
  // unavailable (nothing listens, or the kubelet hung up), timeout, no_permission (of the socket, or
  // told by the kubelet), cancelled (asked to stop), not_supported (no such API), corrupt.
  virtual Result<PodsAnswer> list(const std::stop_token& stop) = 0;
};

}  // namespace stoker::cluster
