#include "cluster/owners.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stoker::cluster {
namespace {

using PodName = std::pair<std::string, std::string>;  // namespace, name
using Processes = std::map<std::uint32_t, ProcessEvidence>;

std::set<PodName> pods_on(const Holds& holds, const std::string& device) {
  std::set<PodName> pods;
  const auto at = holds.by_uuid.find(device);
  if (at == holds.by_uuid.end()) return pods;
  for (const DeviceHold& hold : at->second) {
    pods.emplace(hold.holder.pod_namespace, hold.holder.pod);
  }
  return pods;
}

// The pods' uids of the processes on each device.
std::map<std::string, std::set<std::string>> uids_by_device(const Processes& processes) {
  std::map<std::string, std::set<std::string>> uids;
  for (const auto& [pid, process] : processes) {
    if (process.cgroup.pod_uid.empty()) continue;
    for (const auto& device : process.devices) uids[device].insert(process.cgroup.pod_uid);
  }
  return uids;
}

bool ran_there(const ProcessEvidence& process, const std::string& uid, const std::string& device,
               MonotonicTime at) {
  return process.cgroup.pod_uid == uid && process.began <= at &&
         std::ranges::find(process.devices, device) != process.devices.end();
}

// The pod of each uid for which there is proof.
std::map<std::string, PodName> proven_pods(const Processes& processes, const Holds& holds) {
  std::map<std::string, std::set<PodName>> pods_of_uid;
  std::map<PodName, std::set<std::string>> uids_of_pod;
  for (const auto& [device, uids] : uids_by_device(processes)) {
    const auto pods = pods_on(holds, device);
    if (pods.size() != 1 || uids.size() != 1) continue;
    const bool was_told_of = std::ranges::any_of(processes, [&](const auto& one) {
      return ran_there(one.second, *uids.begin(), device, holds.at);
    });
    if (!was_told_of) continue;
    pods_of_uid[*uids.begin()].insert(*pods.begin());
    uids_of_pod[*pods.begin()].insert(*uids.begin());
  }
  std::map<std::string, PodName> proven;
  for (const auto& [uid, pods] : pods_of_uid) {
    if (pods.size() == 1 && uids_of_pod[*pods.begin()].size() == 1) proven[uid] = *pods.begin();
  }
  return proven;
}

// The container of `pod` that holds the process's devices; empty: several do.
std::string container_on(const Holds& holds, const PodName& pod,
                         const std::vector<std::string>& devices) {
  std::set<std::string> names;
  for (const auto& device : devices) {
    const auto at = holds.by_uuid.find(device);
    if (at == holds.by_uuid.end()) continue;
    for (const DeviceHold& hold : at->second) {
      const PodContainer& holder = hold.holder;
      if (PodName(holder.pod_namespace, holder.pod) == pod) names.insert(holder.container);
    }
  }
  return names.size() == 1 ? *names.begin() : std::string();
}

}  // namespace

std::map<std::uint32_t, ProcessOwner> join(const Processes& processes, const Holds& holds) {
  const auto proven = proven_pods(processes, holds);
  std::map<std::uint32_t, ProcessOwner> owners;
  for (const auto& [pid, process] : processes) {
    ProcessOwner& owner = owners[pid];
    owner = {.uid = process.uid,
             .user = process.user,
             .container_id = process.cgroup.container_id,
             .runtime = process.cgroup.runtime,
             .job = process.job,
             .launch = process.launch,
             .work = process.work};
    const std::string& uid = process.cgroup.pod_uid;
    if (uid.empty()) continue;
    owner.pod = PodContainer{.pod_uid = uid};
    const auto pod = proven.find(uid);
    if (pod == proven.end()) continue;
    owner.pod->pod_namespace = pod->second.first;
    owner.pod->pod = pod->second.second;
    owner.pod->container = container_on(holds, pod->second, process.devices);
  }
  return owners;
}

}  // namespace stoker::cluster
