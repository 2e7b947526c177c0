#include "cluster/cgroup_path.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace stoker::cluster {
namespace {

const std::string container_id = std::string(60, 'a') + "0123";
const std::string other_id = std::string(60, 'b') + "4567";
const std::string pod_uid = "0d3b1a2c-1111-4222-8333-444455556666";
const std::string uid_in_systemd = "0d3b1a2c_1111_4222_8333_444455556666";

struct PathCase {
  std::string what;
  std::string path;
  CgroupOwner owner;
};

std::vector<PathCase> pods() {
  const std::string slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" +
                            uid_in_systemd + ".slice/";
  const CgroupOwner containerd{
      .container_id = container_id, .runtime = "containerd", .pod_uid = pod_uid};
  return {
      {"systemd driver, containerd", slice + "cri-containerd-" + container_id + ".scope",
       containerd},
      {"systemd driver, cri-o",
       slice + "crio-" + container_id + ".scope",
       {.container_id = container_id, .runtime = "cri-o", .pod_uid = pod_uid}},
      {"systemd driver, cri-dockerd",
       slice + "docker-" + container_id + ".scope",
       {.container_id = container_id, .runtime = "docker", .pod_uid = pod_uid}},
      {"a folder of the container's own below",
       slice + "crio-" + container_id + ".scope/container/init",
       {.container_id = container_id, .runtime = "cri-o", .pod_uid = pod_uid}},
      {"guaranteed pods have no class",
       "/kubepods.slice/kubepods-pod" + uid_in_systemd + ".slice/cri-containerd-" + container_id +
           ".scope",
       containerd},
      {"cgroupfs driver names no runtime",
       "/kubepods/besteffort/pod" + pod_uid + "/" + container_id,
       {.container_id = container_id, .pod_uid = pod_uid}},
      {"static pods have a hash for a uid",
       "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" + container_id,
       {.container_id = container_id, .pod_uid = "0123456789abcdef0123456789abcdef"}},
      {"containerd not told of systemd",
       "/system.slice/containerd.service/kubepods-burstable-pod" + uid_in_systemd +
           ".slice:cri-containerd:" + container_id,
       containerd},
      {"KinD: the node is a container_id too, and the pod_uid counts",
       "/docker/" + other_id +
           "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
           "kubelet-kubepods-burstable-pod" +
           uid_in_systemd + ".slice/cri-containerd-" + container_id + ".scope",
       containerd},
      {"docker in a pod: the pod's container_id counts",
       slice + "cri-containerd-" + container_id + ".scope/docker/" + other_id, containerd},
      {"from inside another pod's cgroup namespace",
       "/../../kubepods-besteffort-pod" + uid_in_systemd + ".slice/cri-containerd-" + container_id +
           ".scope",
       containerd},
      {"from inside, cgroupfs driver",
       "/../../pod" + pod_uid + "/" + container_id,
       {.container_id = container_id, .pod_uid = pod_uid}},
      {"the pod's own processes have no container", slice, {.pod_uid = pod_uid}},
      {"cri-o's monitor is not the container",
       slice + "crio-conmon-" + container_id + ".scope",
       {.pod_uid = pod_uid}},
      {"a container that was removed",
       slice + "cri-containerd-" + container_id + ".scope (deleted)", containerd},
  };
}

std::vector<PathCase> the_rest() {
  return {
      {"docker, cgroupfs",
       "/docker/" + container_id,
       {.container_id = container_id, .runtime = "docker"}},
      {"docker, systemd",
       "/system.slice/docker-" + container_id + ".scope",
       {.container_id = container_id, .runtime = "docker"}},
      {"docker in docker: what the host started",
       "/docker/" + container_id + "/docker/" + other_id,
       {.container_id = container_id, .runtime = "docker"}},
      {"podman of a user",
       "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + container_id +
           ".scope/container",
       {.container_id = container_id, .runtime = "podman"}},
      {"Slurm, cgroup v1",
       "/slurm/uid_1000/job_4711/step_0/task_3",
       {.slurm_job = "4711", .slurm_step = "0"}},
      {"Slurm, cgroup v1, several slurmd on a host",
       "/slurm_gpu01/uid_1000/job_4711/step_batch",
       {.slurm_job = "4711", .slurm_step = "batch"}},
      {"Slurm, cgroup v2",
       "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
       {.slurm_job = "4711", .slurm_step = "0"}},
      {"Slurm, cgroup v2, several slurmd on a host",
       "/system.slice/gpu01_slurmstepd.scope/job_4711/step_extern/user/task_special",
       {.slurm_job = "4711", .slurm_step = "extern"}},
      {"Slurm in a container of a pod",
       "/kubepods/burstable/pod" + pod_uid + "/" + container_id + "/slurm/uid_0/job_7/step_0",
       {.container_id = container_id, .pod_uid = pod_uid, .slurm_job = "7", .slurm_step = "0"}},
      {"Slurm from inside another job's cgroup namespace",
       "/../../job_4711/step_1",
       {.slurm_job = "4711", .slurm_step = "1"}},
      {"a folder that is only called like a job", "/batch/job_4711/step_0", {}},
      {"Slurm's own daemons", "/system.slice/slurmd.service", {}},
      {"a login", "/user.slice/user-1000.slice/session-3.scope", {}},
      {"the root", "/", {}},
      {"nothing", "", {}},
      {"an id that is too short", "/docker/" + container_id.substr(1), {}},
      {"a word that ends in pod and a uid of another kind", "/kubepods/tripod" + pod_uid, {}},
      {"not hexadecimal", "/kubepods/pod" + std::string(36, 'z'), {}},
  };
}

TEST(CgroupPath, SaysWhoseAProcessIsInEveryRuntimesSpelling) {
  for (const auto& list : {pods(), the_rest()}) {
    for (const auto& one : list) {
      EXPECT_EQ(parse_cgroup_path(one.path), one.owner) << one.what << ": " << one.path;
    }
  }
}

// cgroups(7) has both forms of the file.
TEST(CgroupFile, TakesContainerAndJobEachFromTheLineThatSaysThem) {
  const CgroupOwner v2 = parse_cgroup_file("0::/kubepods.slice/kubepods-pod" + uid_in_systemd +
                                           ".slice/crio-" + container_id + ".scope\n");
  EXPECT_EQ(v2,
            (CgroupOwner{.container_id = container_id, .runtime = "cri-o", .pod_uid = pod_uid}));
  const CgroupOwner v1 = parse_cgroup_file(
      "12:devices:/slurm/uid_1000/job_4711/step_0\n"
      "4:cpu,cpuacct:/system.slice/slurmd.service\n"
      "1:name=systemd:/system.slice/slurmd.service\n"
      "0::/system.slice/slurmd.service\n");
  EXPECT_EQ(v1, (CgroupOwner{.slurm_job = "4711", .slurm_step = "0"}));
  const CgroupOwner mixed =
      parse_cgroup_file("11:memory:/docker/" + other_id + "\n5:freezer:/kubepods/pod" + pod_uid +
                        "/" + container_id + "\n");
  EXPECT_EQ(mixed, (CgroupOwner{.container_id = other_id, .runtime = "docker"}))
      << "a container of one line never gets the pod of another";
  EXPECT_EQ(parse_cgroup_file("no colons here\n\n1:x"), CgroupOwner{});
}

// Any path is cut into names that were in it, each of the form that it must have.
RC_GTEST_PROP(CgroupPath, NeverSaysWhatIsNotInThePath, ()) {
  const auto part = rc::gen::oneOf(
      rc::gen::element<std::string>("kubepods", "kubepods.slice", "pod" + pod_uid,
                                    "kubepods-burstable-pod" + uid_in_systemd + ".slice",
                                    container_id, "cri-containerd-" + container_id + ".scope",
                                    "docker", "docker-" + other_id + ".scope", "slurm",
                                    "slurmstepd.scope", "job_1", "step_batch", "..", "",
                                    "libpod-conmon-" + container_id + ".scope", "a:b:c"),
      rc::gen::string<std::string>());
  const auto parts = *rc::gen::container<std::vector<std::string>>(part);
  std::string path;
  for (const auto& one : parts) path += "/" + one;
  const CgroupOwner owner = parse_cgroup_path(path);
  RC_ASSERT(owner.container_id.empty() || (owner.container_id.size() == 64 &&
                                           path.find(owner.container_id) != std::string::npos));
  RC_ASSERT(owner.runtime.empty() || !owner.container_id.empty());
  RC_ASSERT(owner.pod_uid.empty() || path.find("pod") != std::string::npos);
  RC_ASSERT(owner.slurm_job.empty() || path.find("job_" + owner.slurm_job) != std::string::npos);
  RC_ASSERT(owner.slurm_step.empty() || !owner.slurm_job.empty());
}

}  // namespace
}  // namespace stoker::cluster
