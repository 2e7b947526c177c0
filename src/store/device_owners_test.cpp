#include "store/device_owners.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

#include "store/store_test_support.h"

namespace stoker::store {
namespace {

DeviceHold held_by(const std::string& pod, const std::string& replica = "") {
  return {.holder = {.pod = pod, .pod_namespace = "team", .container = "main"},
          .resource = "nvidia.com/gpu",
          .replica = replica};
}

ProcessOwner in_pod(const std::string& pod) {
  return {.container_id = std::string(64, 'a'),
          .runtime = "containerd",
          .pod = PodContainer{.pod = pod, .pod_namespace = "team", .container = "main"}};
}

// One card; what a test says about it goes into `told`.
struct Card {
  Snapshot snapshot;
  Attribution told;

  Card() {
    told.processes.reason = Reason::ok;
    told.pods.reason = Reason::ok;
    snapshot.gpus.resize(1);
    gpu().info = gpu_info(0);
  }
  GpuSnapshot& gpu() { return snapshot.gpus.front(); }
  void hold(const DeviceHold& hold) { told.holds[gpu().info.uuid].push_back(hold); }
  void run(std::uint32_t pid, ProcessOwner owner, const std::string& job = "") {
    if (!job.empty()) owner.job = SlurmJob{.id = job};
    gpu().processes.push_back({.pid = pid});
    told.owners[pid] = std::move(owner);
  }
  std::vector<DeviceOwner> owners(const CardPart& part = {}) {
    snapshot.attribution = std::make_shared<const Attribution>(told);
    return owners_of(snapshot, gpu(), part);
  }
};

TEST(DeviceOwners, AContainerWithSeveralSharesOfACardIsOneOwner) {
  Card card;
  card.hold(held_by("a", "1"));
  card.hold(held_by("b", "2"));
  card.hold(held_by("a", "3"));
  const auto owners = card.owners();
  ASSERT_EQ(owners.size(), 2U);
  EXPECT_EQ(owners[0].hold->holder.pod, "a");
  EXPECT_EQ(owners[0].replicas, "1,3");
  EXPECT_EQ(owners[1].replicas, "2");
}

TEST(DeviceOwners, AJobStandsBesideTheContainerThatItsProcessIsInAndElseByItself) {
  Card card;
  card.hold(held_by("a"));
  card.run(1, in_pod("a"), "11");
  card.run(2, {}, "12");               // on the host
  card.run(3, in_pod("other"), "13");  // in a pod that was not given this card
  const auto owners = card.owners();
  ASSERT_EQ(owners.size(), 3U);
  EXPECT_EQ(owners[0].hold->holder.pod, "a");
  EXPECT_EQ(owners[0].job->id, "11");
  EXPECT_EQ(owners[1].hold, nullptr);
  EXPECT_EQ(owners[1].job->id, "12");
  EXPECT_EQ(owners[2].hold, nullptr);
  EXPECT_EQ(owners[2].job->id, "13");
}

TEST(DeviceOwners, OfAMigCardAreThoseOfEachInstance) {
  Card card;
  card.gpu().info.migs = {{.uuid = "MIG-1", .gpu_instance = 1, .compute_instance = 0},
                          {.uuid = "MIG-2", .gpu_instance = 2, .compute_instance = 0},
                          {.uuid = "MIG-3", .gpu_instance = 2, .compute_instance = 1}};
  card.told.holds["MIG-1"] = {held_by("a")};
  card.told.holds["MIG-2"] = {held_by("b")};
  card.told.holds["MIG-3"] = {held_by("c")};
  card.run(7, in_pod("c"), "21");
  card.gpu().processes.back().gpu_instance = 2;
  card.gpu().processes.back().compute_instance = 1;
  EXPECT_TRUE(card.owners().empty());
  EXPECT_EQ(card.owners({.gpu_instance = 1}).front().hold->holder.pod, "a");
  const auto both = card.owners({.gpu_instance = 2});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].job, nullptr);
  EXPECT_EQ(both[1].job->id, "21");
  const auto one = card.owners({.gpu_instance = 2, .compute_instance = 0});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].hold->holder.pod, "b");
}

TEST(DeviceOwners, WhatIsNotKnownHasAReasonAndNobodyIsNamed) {
  Card card;
  card.hold(held_by("a"));
  card.run(1, in_pod("a"));
  card.told.pods.reason = Reason::failed;
  EXPECT_TRUE(card.owners().empty());
  EXPECT_EQ(why_no_holds(card.snapshot), Reason::failed);
  EXPECT_EQ(why_no_owner(card.snapshot, 1), Reason::ok);
  EXPECT_EQ(why_no_owner(card.snapshot, 2), Reason::pending);
  card.told.owners.clear();
  card.told.processes.reason = Reason::no_permission;
  EXPECT_TRUE(card.owners().empty());
  EXPECT_EQ(why_no_owner(card.snapshot, 1), Reason::no_permission);
  card.snapshot.attribution = nullptr;
  EXPECT_EQ(why_no_owner(card.snapshot, 1), Reason::no_source);
  EXPECT_EQ(why_no_holds(card.snapshot), Reason::no_source);
  EXPECT_EQ(owner_of(card.snapshot, 1), nullptr);
}

RC_GTEST_PROP(DeviceOwners, AreNeverTwiceTheSameWhateverIsHeldAndRuns, ()) {
  Card card;
  const auto few = [](int most) { return *rc::gen::inRange(0, most); };
  const auto pod = [&few] { return std::string(1, static_cast<char>('a' + few(3))); };
  for (int n = few(8); n > 0; --n) card.hold(held_by(pod(), few(2) == 0 ? "" : pod()));
  for (int n = few(8); n > 0; --n) {
    const auto pid = static_cast<std::uint32_t>(100 + n);
    card.run(pid, few(3) == 0 ? ProcessOwner{} : in_pod(pod()), few(2) == 0 ? "" : pod());
  }
  const auto owners = card.owners();
  std::set<std::tuple<std::string, std::string>> seen;
  std::set<std::string> jobs;
  std::set<std::string> pods;
  for (const DeviceOwner& owner : owners) {
    RC_ASSERT(owner.hold != nullptr || owner.job != nullptr);
    const std::string name = owner.hold != nullptr ? owner.hold->holder.pod : "";
    RC_ASSERT(seen.emplace(name, owner.job != nullptr ? owner.job->id : "").second);
    if (owner.hold != nullptr) pods.insert(name);
    if (owner.job != nullptr) jobs.insert(owner.job->id);
  }
  std::set<std::string> all_pods;
  for (const DeviceHold& hold : card.told.holds[card.gpu().info.uuid]) {
    all_pods.insert(hold.holder.pod);
  }
  std::set<std::string> all_jobs;
  for (const auto& [pid, owner] : card.told.owners) {
    if (owner.job) all_jobs.insert(owner.job->id);
  }
  RC_ASSERT(pods == all_pods);
  RC_ASSERT(jobs == all_jobs);
}

}  // namespace
}  // namespace stoker::store
