// A node where pods, claims, shares and Slurm jobs have GPUs and MIG instances, for the golden files.
// The names are made up; who holds what is as kubelets and Slurm tell it.
#pragma once

#include <string>

#include "export/hgx_h100_test_support.h"

namespace stoker::exporting {

inline PodContainer container_of(const std::string& pod) {
  return {.pod = pod, .pod_namespace = "research", .container = "main"};
}

inline DeviceHold hold_of(const std::string& pod, const std::string& replica = "") {
  return {.holder = container_of(pod), .resource = "nvidia.com/gpu", .replica = replica};
}

// GPU 0: one pod. 1: a claim. 2: two pods with a share each, one of them with two. 3: a Slurm job on
// the host. 4: two jobs. 5: MIG, one instance held, one with two compute instances of two pods, one
// free. 6, 7: nobody.
inline store::Snapshot owned_snapshot() {
  store::Snapshot snapshot = hgx_h100_snapshot();
  const auto uuid = [&snapshot](std::size_t gpu) { return snapshot.gpus[gpu].info.uuid; };
  Attribution told;
  told.processes = {.reason = Reason::ok, .at = golden_time};
  told.pods = {.reason = Reason::ok, .at = golden_time};
  told.holds[uuid(0)] = {hold_of("trainer-0")};
  told.holds[uuid(1)] = {{.holder = container_of("claimer"),
                          .claim = "one-gpu",
                          .claim_namespace = "research",
                          .driver = "gpu.nvidia.com",
                          .pool = "node1",
                          .device = "gpu-1"}};
  told.holds[uuid(2)] = {hold_of("notebook-a", "0"), hold_of("notebook-b", "1"),
                         hold_of("notebook-a", "2")};
  const auto run = [&](std::size_t gpu, std::uint32_t pid, const std::string& job) {
    snapshot.gpus[gpu].processes.push_back({.pid = pid});
    snapshot.gpus[gpu].process_outcome = Reading::of(std::int64_t{1}, golden_time);
    told.owners[pid] = {.uid = 1001,
                        .user = "ada",
                        .job = SlurmJob{.id = job, .step = "0", .name = "train \"big\""}};
  };
  run(3, 300, "4711");
  run(3, 301, "4711");
  run(4, 400, "4712");
  run(4, 401, "4713");
  auto& migs = snapshot.gpus[5].info.migs;
  migs = {{.uuid = "MIG-1", .profile = "1g.10gb", .gpu_instance = 7, .compute_instance = 0},
          {.uuid = "MIG-2", .profile = "1c.2g.20gb", .gpu_instance = 3, .compute_instance = 0},
          {.uuid = "MIG-3", .profile = "1c.2g.20gb", .gpu_instance = 3, .compute_instance = 1},
          {.uuid = "MIG-4", .profile = "1g.10gb", .gpu_instance = 9, .compute_instance = 0}};
  told.holds["MIG-1"] = {hold_of("server-a")};
  told.holds["MIG-1"].front().resource = "nvidia.com/mig-1g.10gb";
  told.holds["MIG-2"] = {hold_of("server-b")};
  told.holds["MIG-3"] = {hold_of("server-c")};
  snapshot.attribution = std::make_shared<const Attribution>(std::move(told));
  return snapshot;
}

}  // namespace stoker::exporting
