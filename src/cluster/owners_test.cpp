#include "cluster/owners.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/slurm_job.h"

namespace stoker::cluster {
namespace {

DeviceHold held_by(const std::string& pod, const std::string& container = "main") {
  return {.holder = {.pod = pod, .pod_namespace = "team", .container = container}};
}

ProcessEvidence in_pod(const std::string& uid, const std::vector<std::string>& devices) {
  return {.uid = 1000,
          .user = "ada",
          .cgroup = {.container_id = "c", .runtime = "cri-o", .pod_uid = uid},
          .devices = devices};
}

std::string pod_of(const std::map<std::uint32_t, ProcessOwner>& owners, std::uint32_t pid) {
  const auto& pod = owners.at(pid).pod;
  if (!pod) return "none";
  return pod->pod + "/" + pod->container + "/" + pod->pod_uid;
}

TEST(Owners, TheOnlyHolderOfADeviceIsThePodOfTheProcessOnIt) {
  const Holds holds{.by_uuid = {{"GPU-a", {held_by("trainer")}}}};
  const auto owners = join({{7, in_pod("u1", {"GPU-a"})}}, holds);
  EXPECT_EQ(pod_of(owners, 7), "trainer/main/u1");
  EXPECT_EQ(owners.at(7).pod->pod_namespace, "team");
  EXPECT_EQ(owners.at(7).uid, 1000U);
  EXPECT_EQ(owners.at(7).user, "ada");
  EXPECT_EQ(owners.at(7).container_id, "c");
  EXPECT_EQ(owners.at(7).runtime, "cri-o");
}

TEST(Owners, WhoCameAfterTheKubeletsLastWordIsNotThePodThatItNamed) {
  Holds holds{.by_uuid = {{"GPU-a", {held_by("trainer")}}}};
  holds.at = MonotonicTime{Seconds(100)};
  ProcessEvidence late = in_pod("u2", {"GPU-a"});
  late.began = MonotonicTime{Seconds(101)};
  EXPECT_EQ(pod_of(join({{8, late}}, holds), 8), "//u2");
  // A further process of a pod that was there.
  ProcessEvidence child = in_pod("u1", {"GPU-a"});
  child.began = MonotonicTime{Seconds(101)};
  const auto owners = join({{7, in_pod("u1", {"GPU-a"})}, {8, child}}, holds);
  EXPECT_EQ(pod_of(owners, 8), "trainer/main/u1");
}

TEST(Owners, AProcessOutsideEveryPodIsNotTheHoldersThoughItRunsOnItsGpu) {
  const Holds holds{.by_uuid = {{"GPU-a", {held_by("trainer")}}}};
  ProcessEvidence login;
  login.devices = {"GPU-a"};
  EXPECT_EQ(pod_of(join({{7, login}}, holds), 7), "none");
}

TEST(Owners, OfSeveralPodsOnAGpuOnlyTheUidIsKnown) {
  const Holds holds{.by_uuid = {{"GPU-a", {held_by("one"), held_by("two")}}}};
  EXPECT_EQ(pod_of(join({{7, in_pod("u1", {"GPU-a"})}}, holds), 7), "//u1");
}

TEST(Owners, AUidThatIsProvenOnOneDeviceIsThatPodOnEveryDevice) {
  const Holds holds{
      .by_uuid = {{"GPU-a", {held_by("one"), held_by("two")}}, {"GPU-b", {held_by("two")}}}};
  const auto owners = join(
      {{7, in_pod("u2", {"GPU-a"})}, {8, in_pod("u2", {"GPU-b"})}, {9, in_pod("u1", {"GPU-a"})}},
      holds);
  EXPECT_EQ(pod_of(owners, 7), "two/main/u2");
  EXPECT_EQ(pod_of(owners, 8), "two/main/u2");
  EXPECT_EQ(pod_of(owners, 9), "//u1") << "that it is the other one nobody has said";
}

// A monitoring pod may use a GPU that it doesn't hold.
TEST(Owners, WithProcessesOfTwoPodsTheOnlyHolderCouldBeEither) {
  const Holds holds{.by_uuid = {{"GPU-a", {held_by("trainer")}}}};
  const auto owners = join({{7, in_pod("u1", {"GPU-a"})}, {8, in_pod("u2", {"GPU-a"})}}, holds);
  EXPECT_EQ(pod_of(owners, 7), "//u1");
  EXPECT_EQ(pod_of(owners, 8), "//u2");
}

TEST(Owners, WhatContradictsItselfNamesNobody) {
  const Holds two_pods{.by_uuid = {{"GPU-a", {held_by("one")}}, {"GPU-b", {held_by("two")}}}};
  EXPECT_EQ(pod_of(join({{7, in_pod("u1", {"GPU-a", "GPU-b"})}}, two_pods), 7), "//u1");
  const Holds one_pod{.by_uuid = {{"GPU-a", {held_by("one")}}, {"GPU-b", {held_by("one")}}}};
  const auto owners = join({{7, in_pod("u1", {"GPU-a"})}, {8, in_pod("u2", {"GPU-b"})}}, one_pod);
  EXPECT_EQ(pod_of(owners, 7), "//u1");
  EXPECT_EQ(pod_of(owners, 8), "//u2");
}

TEST(Owners, TheContainerIsNamedWhereOnlyOneOfItsPodHoldsTheDevice) {
  const Holds shared{.by_uuid = {{"GPU-a", {held_by("p", "x"), held_by("p", "y")}}}};
  EXPECT_EQ(pod_of(join({{7, in_pod("u", {"GPU-a"})}}, shared), 7), "p//u");
  const Holds own{.by_uuid = {{"GPU-a", {held_by("p", "x")}}, {"GPU-b", {held_by("p", "y")}}}};
  EXPECT_EQ(pod_of(join({{7, in_pod("u", {"GPU-b"})}}, own), 7), "p/y/u");
}

TEST(Owners, APodWithoutAKubeletsWordKeepsItsUid) {
  EXPECT_EQ(pod_of(join({{7, in_pod("u1", {"GPU-a"})}}, {}), 7), "//u1");
}

// Whatever pods hold and use, a name goes to one uid alone and only to who is in a pod.
RC_GTEST_PROP(Owners, NeverGiveOnePodsNameToTwoUids, ()) {
  const auto word = rc::gen::element<std::string>("a", "b", "c", "d");
  Holds holds;
  for (const auto& [device, pod] :
       *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
           rc::gen::pair(word, word))) {
    holds.by_uuid[device].push_back(held_by(pod));
  }
  std::map<std::uint32_t, ProcessEvidence> processes;
  std::uint32_t pid = 0;
  for (const auto& [uid, devices] :
       *rc::gen::container<std::vector<std::pair<std::string, std::vector<std::string>>>>(
           rc::gen::pair(rc::gen::element<std::string>("", "u1", "u2", "u3"),
                         rc::gen::container<std::vector<std::string>>(word)))) {
    processes[++pid] = in_pod(uid, devices);
  }
  std::map<std::string, std::string> uid_of;
  for (const auto& [number, owner] : join(processes, holds)) {
    RC_ASSERT(owner.pod.has_value() == !processes.at(number).cgroup.pod_uid.empty());
    if (!owner.pod || owner.pod->pod.empty()) continue;
    RC_ASSERT(uid_of.emplace(owner.pod->pod, owner.pod->pod_uid).first->second ==
              owner.pod->pod_uid);
  }
}

TEST(SlurmJob, TheCgroupsWordCountsMoreThanTheEnvironments) {
  const CgroupOwner cgroup{.slurm_job = "4711", .slurm_step = "0"};
  const auto both = slurm_job_of(cgroup, {{"SLURM_JOB_ID", "4711"},
                                          {"SLURM_STEP_ID", "9"},
                                          {"SLURM_JOB_NAME", "pretrain"},
                                          {"SLURM_ARRAY_JOB_ID", "4700"},
                                          {"SLURM_ARRAY_TASK_ID", "3"}});
  EXPECT_EQ(both, (SlurmJob{.id = "4711", .array = "4700_3", .step = "0", .name = "pretrain"}));
  const auto strange =
      slurm_job_of(cgroup, {{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_NAME", "somebody else's"}});
  EXPECT_EQ(strange, (SlurmJob{.id = "4711", .step = "0"})) << "an environment can be written";
}

TEST(SlurmJob, ANameIsCutWhereItIsNoTextAnyMore) {
  const CgroupOwner cgroup{.slurm_job = "1"};
  const auto name_of = [&](const std::string& name) {
    return slurm_job_of(cgroup, {{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_NAME", name}})->name;
  };
  EXPECT_EQ(name_of("\u00fcber\xff\xfe"), "\u00fcber");
  EXPECT_EQ(name_of(std::string(127, 'a') + "\u00fc"), std::string(127, 'a'));
}

TEST(SlurmJob, TheEnvironmentIsBelievedWhereTheCgroupSaysNothing) {
  EXPECT_EQ(slurm_job_of({}, {{"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "4294967291"}}),
            (SlurmJob{.id = "4711", .step = "batch"}));
  EXPECT_EQ(slurm_job_of({}, {{"SLURM_JOB_ID", "4711"}, {"SLURM_ARRAY_JOB_ID", "4700"}}),
            (SlurmJob{.id = "4711"}));
  EXPECT_EQ(slurm_job_of({}, {{"SLURM_JOB_ID", "$(rm -rf)"}}), std::nullopt);
  EXPECT_EQ(slurm_job_of({}, {{"SLURM_JOB_ID", ""}}), std::nullopt);
  EXPECT_EQ(slurm_job_of({}, {}), std::nullopt);
}

}  // namespace
}  // namespace stoker::cluster
