// Cluster stage: which GPU or MIG instance each container holds. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/pod_resources.h"
#include "device/api.h"
#include "model/attribution.h"

namespace stoker::cluster {

struct Holds {
  std::map<std::string, std::vector<DeviceHold>> by_uuid;
  std::vector<DeviceHold> unmapped;  // of a GPU by their names, and nobody can tell of which
  MonotonicTime at;                  // when the kubelet said so
};

// A device plugin's ids are UUIDs ("GPU-...", "MIG-...", the older "MIG-GPU-.../7/0"), with "::3" where
// the device is shared out, or GKE's names of device nodes ("nvidia0", "nvidia0/gi1", "nvidia0/vgpu2").
// A claimed device is known by a CDI name that has a UUID or an index, or by NVIDIA's driver's names
// ("gpu-0", by minor number). What none of them tells is not guessed: it stays unmapped. Devices of
// other kinds (network cards, say) are left out.
Holds map_holds(const PodResources& resources, const std::vector<device::GpuInfo>& gpus);

}  // namespace stoker::cluster
