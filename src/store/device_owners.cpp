#include "store/device_owners.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stoker::store {
namespace {

bool is_in(const device::MigInfo& mig, const CardPart& part) {
  return mig.gpu_instance == part.gpu_instance &&
         (!part.compute_instance || mig.compute_instance == part.compute_instance);
}

bool is_in(const device::ProcessInfo& process, const CardPart& part) {
  if (!part.gpu_instance) return process.gpu_instance == device::no_instance;
  return process.gpu_instance == part.gpu_instance &&
         (!part.compute_instance || process.compute_instance == part.compute_instance);
}

auto name_of(const PodContainer& container) {
  return std::tie(container.pod_namespace, container.pod, container.container);
}

// Without a container last.
auto order_of(const DeviceOwner& owner) {
  static const PodContainer none;
  static const std::string no_job;
  return std::tuple_cat(std::make_tuple(owner.hold == nullptr),
                        name_of(owner.hold != nullptr ? owner.hold->holder : none),
                        std::tie(owner.job != nullptr ? owner.job->id : no_job));
}

// One for each container.
std::vector<DeviceOwner> containers(const Snapshot& snapshot, const GpuSnapshot& gpu,
                                    const CardPart& part) {
  std::vector<DeviceOwner> owners;
  const auto take = [&](const std::string& uuid) {
    for (const DeviceHold& hold : holds_of(snapshot, uuid)) {
      const auto same = std::ranges::find_if(owners, [&hold](const DeviceOwner& owner) {
        return name_of(owner.hold->holder) == name_of(hold.holder);
      });
      if (same == owners.end()) {
        owners.push_back({.hold = &hold, .replicas = hold.replica});
      } else if (!hold.replica.empty()) {
        same->replicas += (same->replicas.empty() ? "" : ",") + hold.replica;
      }
    }
  };
  if (!part.gpu_instance) take(gpu.info.uuid);
  for (const device::MigInfo& mig : gpu.info.migs) {
    if (is_in(mig, part)) take(mig.uuid);
  }
  return owners;
}

// The one that the process is in, as far as its cgroup says; nullptr: none of them, or not certain.
const DeviceHold* container_of(const ProcessOwner& owner, const std::vector<DeviceOwner>& holders) {
  if (!owner.pod) return nullptr;
  const PodContainer& in = *owner.pod;
  const DeviceHold* found = nullptr;
  for (const DeviceOwner& one : holders) {
    const PodContainer& holder = one.hold->holder;
    const bool same_pod = in.pod.empty()
                              ? !in.pod_uid.empty() && in.pod_uid == holder.pod_uid
                              : in.pod == holder.pod && in.pod_namespace == holder.pod_namespace;
    if (!same_pod || (!in.container.empty() && in.container != holder.container)) continue;
    if (found != nullptr) return nullptr;
    found = one.hold;
  }
  return found;
}

}  // namespace

const ProcessOwner* owner_of(const Snapshot& snapshot, std::uint32_t pid) {
  if (snapshot.attribution == nullptr) return nullptr;
  const auto found = snapshot.attribution->owners.find(pid);
  return found == snapshot.attribution->owners.end() ? nullptr : &found->second;
}

Reason why_no_owner(const Snapshot& snapshot, std::uint32_t pid) {
  if (snapshot.attribution == nullptr) return Reason::no_source;
  if (owner_of(snapshot, pid) != nullptr) return Reason::ok;
  const Reason why = snapshot.attribution->processes.reason;
  return why == Reason::ok ? Reason::pending : why;  // it is newer than the last look
}

Reason why_no_holds(const Snapshot& snapshot) {
  return snapshot.attribution == nullptr ? Reason::no_source : snapshot.attribution->pods.reason;
}

const std::vector<DeviceHold>& holds_of(const Snapshot& snapshot, const std::string& uuid) {
  static const std::vector<DeviceHold> none;
  if (why_no_holds(snapshot) != Reason::ok || uuid.empty()) return none;
  const auto found = snapshot.attribution->holds.find(uuid);
  return found == snapshot.attribution->holds.end() ? none : found->second;
}

std::vector<DeviceOwner> owners_of(const Snapshot& snapshot, const GpuSnapshot& gpu,
                                   const CardPart& part) {
  const std::vector<DeviceOwner> holders = containers(snapshot, gpu, part);
  std::map<std::pair<const DeviceHold*, std::string>, const SlurmJob*> jobs;
  for (const device::ProcessInfo& process : gpu.processes) {
    const ProcessOwner* owner = is_in(process, part) ? owner_of(snapshot, process.pid) : nullptr;
    if (owner == nullptr || !owner->job || owner->job->id.empty()) continue;
    jobs.try_emplace({container_of(*owner, holders), owner->job->id}, &*owner->job);
  }
  std::vector<DeviceOwner> owners;
  for (const DeviceOwner& holder : holders) {
    const std::size_t before = owners.size();
    for (const auto& [key, job] : jobs) {
      if (key.first != holder.hold) continue;
      owners.push_back({.hold = holder.hold, .replicas = holder.replicas, .job = job});
    }
    if (owners.size() == before) owners.push_back(holder);
  }
  for (const auto& [key, job] : jobs) {
    if (key.first == nullptr) owners.push_back({.job = job});
  }
  std::ranges::sort(
      owners, [](const DeviceOwner& a, const DeviceOwner& b) { return order_of(a) < order_of(b); });
  return owners;
}

}  // namespace stoker::store
