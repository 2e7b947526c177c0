// Cluster stage: what a cgroup's path says about who started a process. Pure; no path is ever opened.
#pragma once

#include <string>
#include <string_view>

namespace stoker::cluster {

// What is empty the path does not say.
struct CgroupOwner {
  std::string container_id;  // 64 lower-case hexadecimal digits
  std::string runtime;     // "containerd", "cri-o", "docker", "podman"; empty: the path names none
  std::string pod_uid;     // with '-', as the API server has it; of a static pod 32 digits
  std::string slurm_job;   // "4711"
  std::string slurm_step;  // "0", "batch", "extern"
  friend bool operator==(const CgroupOwner&, const CgroupOwner&) = default;
};

// One path of cgroup v1 or v2, as systemd or plain cgroupfs make it, also one that is told from inside
// a cgroup namespace ("/../.."). Of containers in containers it is the outermost, which this host's
// runtime started; of containers in a pod the pod's.
CgroupOwner parse_cgroup_path(std::string_view path);

// A whole /proc/PID/cgroup: lines of hierarchy:controllers:path (cgroups(7)). Container and pod come
// from one line, the first that says them; so do job and step.
CgroupOwner parse_cgroup_file(std::string_view text);

}  // namespace stoker::cluster
