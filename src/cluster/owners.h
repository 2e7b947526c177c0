// Cluster stage: the join of what is known about processes with what the kubelet says. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cgroup_path.h"
#include "cluster/holds.h"
#include "model/attribution.h"

namespace stoker::cluster {

// One process that runs on at least one GPU.
struct ProcessEvidence {
  std::optional<std::uint32_t> uid;
  std::string user;  // name of uid; empty: it has none
  CgroupOwner cgroup;
  std::optional<SlurmJob> job;
  Launch launch;
  HostWork work;
  std::vector<std::string> devices;  // UUIDs of the GPUs and MIG instances that it runs on
  MonotonicTime began;               // at the latest
};

// A process is in a pod if its cgroup says so; the cgroup has the pod's uid and no name. The name comes
// from the holds where they prove it:
// - one pod alone holds a device, and no process of another pod runs on it: that pod has this uid, where a process of
//   the uid ran there when the kubelet said so. Who came later may be of a pod that the kubelet has not told of yet.
// - A uid that was found so is that pod on every device.
// - What contradicts itself (one uid with two pods, two uids with one pod) names nobody.
// - The container is named where it alone of its pod's holds one of the process's devices.
// With several pods on a device (time-slicing, MPS) nothing else tells which is which: the uid stays.
std::map<std::uint32_t, ProcessOwner> join(
    const std::map<std::uint32_t, ProcessEvidence>& processes, const Holds& holds);

}  // namespace stoker::cluster
