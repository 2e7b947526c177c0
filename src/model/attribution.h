// Ground stage: whose work runs on a node's GPUs, as plain data. src/cluster finds it out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/reading.h"

namespace stoker {

// A container of a pod, as the kubelet's pod resources name it.
struct PodContainer {
  std::string pod;
  std::string pod_namespace;
  std::string container;
  std::string pod_uid;  // empty: not known (the kubelet's list has none; a process's cgroup does)
  friend bool operator==(const PodContainer&, const PodContainer&) = default;
};

// One container's hold on a GPU or MIG instance.
struct DeviceHold {
  PodContainer holder;
  std::string resource;  // "nvidia.com/gpu"; empty: held by a resource claim
  std::string replica;   // "3" of "GPU-...::3", a share of the device; empty: the whole device
  // Of a dynamic resource; empty: none.
  std::string claim;
  std::string claim_namespace;
  std::string driver;
  std::string pool;
  std::string device;
  friend bool operator==(const DeviceHold&, const DeviceHold&) = default;
};

struct SlurmJob {
  std::string id;     // "4711", as Slurm's cgroups and environment have it, of an array's task too
  std::string array;  // "4700_3", how people name the task of an array; empty: none, or not known
  std::string step;   // "0", "batch"; empty: not known
  std::string name;   // empty: not known
  friend bool operator==(const SlurmJob&, const SlurmJob&) = default;
};

// One start of several ranks that work together.
struct Launch {
  std::string id;                     // "10.0.0.1:29500"; empty: not known
  std::optional<std::uint32_t> rank;  // of this process
  std::uint32_t ranks = 0;            // how many there are, on all nodes; 0: not known
  friend bool operator==(const Launch&, const Launch&) = default;
};

// What a process and those that it started do on the host, over the last minute at most.
struct HostWork {
  Reason reason = Reason::pending;  // ok: what follows is known
  double cpu_percent = 0;           // of one core
  double io_per_second = 0;         // bytes read and written
  bool waits_in_kernel =
      false;            // one of them sleeps in the kernel at the last look: for a disk, say
  Nanoseconds over{0};  // the time that was looked at
  friend bool operator==(const HostWork&, const HostWork&) = default;
};

// Whose a process is. What is empty is not known; `processes` below says why, if it is so for all.
struct ProcessOwner {
  std::optional<std::uint32_t> uid;
  std::string user;          // name of uid
  std::string container_id;  // 64 hexadecimal digits, as the runtime counts
  std::string runtime;       // "containerd", "cri-o", "docker", "podman"
  std::optional<PodContainer> pod;
  std::optional<SlurmJob> job;
  Launch launch;
  HostWork work;  // known only of processes whose GPUs rest
  friend bool operator==(const ProcessOwner&, const ProcessOwner&) = default;
};

// How one way of finding out stands.
struct AttributionSource {
  Reason reason = Reason::pending;  // ok: it answered; no_source: this node has none (no kubelet)
  std::string detail;               // what is wrong and what to do; empty where nothing is
  MonotonicTime at;                 // of the last answer
  friend bool operator==(const AttributionSource&, const AttributionSource&) = default;
};

struct Attribution {
  AttributionSource processes;                   // /proc: users, containers, jobs
  AttributionSource pods;                        // the kubelet's pod resources
  std::map<std::uint32_t, ProcessOwner> owners;  // by pid; only of processes that are on a GPU
  std::map<std::string, std::vector<DeviceHold>> holds;  // by UUID of a GPU or MIG instance
  // Of GPUs, by what the kubelet says, but of none that is known here.
  std::vector<DeviceHold> unmapped;
  friend bool operator==(const Attribution&, const Attribution&) = default;
};

}  // namespace stoker
