#include "cluster/process_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cluster/fake_proc_test_support.h"
#include "device/simnode/simnode_test_support.h"
#include "store/store_test_support.h"

namespace stoker::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A snapshot of GPUs whose lists of processes came now.
class Lists {
 public:
  explicit Lists(const os::Env& env) : env_(env) {}
  Lists& gpu(std::vector<device::ProcessInfo> processes) {
    store::GpuSnapshot one;
    one.info = store::gpu_info(static_cast<unsigned>(snapshot_.gpus.size()));
    one.info.uuid = "GPU-" + std::to_string(snapshot_.gpus.size());
    one.info.migs = {{.uuid = "MIG-0", .gpu_instance = 7, .compute_instance = 0}};
    one.process_outcome =
        Reading::of(static_cast<std::int64_t>(processes.size()), env_.clock().monotonic());
    one.processes = std::move(processes);
    snapshot_.gpus.push_back(std::move(one));
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a test hands it on as the snapshot it stands for
  operator const store::Snapshot&() const { return snapshot_; }

 private:
  const os::Env& env_;
  store::Snapshot snapshot_;
};

// A process that begins now, to the tick, by FakeProc's uptime.
constexpr std::uint64_t now_ticks = 100'000'000;

class ProcessLookTest : public testing::Test {
 protected:
  Lists lists() const { return Lists(proc_.env()); }

  FakeProc proc_;
  ProcessLook look_{proc_.env()};
};

TEST_F(ProcessLookTest, TellsUserCgroupJobAndDevicesOfEachProcess) {
  proc_.add(7, "/slurm/uid_1000/job_4711/step_0");
  proc_.set_environment(7, "SECRET=x;SLURM_JOB_ID=4711;SLURM_JOB_NAME=pretrain;");
  const auto seen = look_.look(
      lists().gpu({{.pid = 7}}).gpu({{.pid = 7, .gpu_instance = 7, .compute_instance = 0}}));
  EXPECT_EQ(seen.source.reason, Reason::ok);
  EXPECT_EQ(seen.source.detail, "");
  const ProcessEvidence& one = seen.processes.at(7);
  EXPECT_EQ(one.uid, 1000U);
  EXPECT_EQ(one.user, "ada");
  EXPECT_EQ(one.job, (SlurmJob{.id = "4711", .step = "0", .name = "pretrain"}));
  EXPECT_THAT(one.devices, ElementsAre("GPU-0", "MIG-0"));
}

TEST_F(ProcessLookTest, AProcessThatBeganAfterTheListIsAStranger) {
  proc_.add(7, "/", now_ticks);
  EXPECT_THAT(look_.look(lists().gpu({{.pid = 7}})).processes, IsEmpty());
  proc_.add(7, "/", now_ticks - 100);
  EXPECT_EQ(look_.look(lists().gpu({{.pid = 7}})).processes.count(7), 1U);
}

TEST_F(ProcessLookTest, WhatAProcessDoesOnTheHostIsAskedWhereItsGpusRest) {
  proc_.add(7, "/");
  proc_.hide_children(7);
  store::Snapshot node = lists().gpu({{.pid = 7}}).gpu({{.pid = 7}});
  const auto use = [&](std::size_t gpu, std::int64_t percent) {
    node.gpus[gpu].readings.set(FieldId::utilization,
                                Reading::of(percent, proc_.env().clock().monotonic()));
  };
  use(0, 0);
  use(1, 90);
  EXPECT_EQ(look_.look(node).processes.at(7).work.reason, Reason::pending) << "one GPU works";
  use(1, 0);
  EXPECT_EQ(look_.look(node).processes.at(7).work.reason, Reason::not_supported)
      << "it was asked for";
}

TEST_F(ProcessLookTest, TheOldestListThatNamesAPidDecides) {
  proc_.add(7, "/", now_ticks - 100);
  store::Snapshot two = lists().gpu({{.pid = 7}}).gpu({{.pid = 7}});
  EXPECT_EQ(look_.look(two).processes.count(7), 1U);
  two.gpus[1].process_outcome.taken_at = two.gpus[1].process_outcome.taken_at + Seconds(-5);
  EXPECT_EQ(look_.look(two).processes.count(7), 0U) << "on GPU 1 it was somebody else";
}

TEST_F(ProcessLookTest, APidThatIsGivenAgainIsAnotherProcess) {
  proc_.add(7, "/slurm/uid_1000/job_1/step_0");
  proc_.set_environment(7, "SLURM_JOB_ID=1;SLURM_JOB_NAME=first;");
  EXPECT_EQ(look_.look(lists().gpu({{.pid = 7}})).processes.at(7).job->name, "first");
  EXPECT_FALSE(look_.look(lists().gpu({{.pid = 7}})).anybody_new);
  proc_.add(7, "/slurm/uid_1000/job_1/step_0", 2000);
  const auto seen = look_.look(lists().gpu({{.pid = 7}}));
  EXPECT_TRUE(seen.anybody_new);
  EXPECT_EQ(seen.processes.at(7).job->name, "") << "nothing of the first one is left";
}

TEST_F(ProcessLookTest, WhoHasEndedIsNotNamed) {
  proc_.add(7, "/");
  EXPECT_EQ(look_.look(lists().gpu({{.pid = 7}})).processes.count(7), 1U);
  proc_.remove(7);
  const auto seen = look_.look(lists().gpu({{.pid = 7}}));
  EXPECT_THAT(seen.processes, IsEmpty());
  EXPECT_EQ(seen.source.reason, Reason::ok) << "that is nobody's fault";
}

TEST_F(ProcessLookTest, InAPidNamespaceOfItsOwnNobodyIsNamed) {
  proc_.add(7, "/");
  proc_.move_to_pid_namespace("pid:[4026532201]");
  const auto seen = look_.look(lists().gpu({{.pid = 7}}));
  EXPECT_THAT(seen.processes, IsEmpty());
  EXPECT_EQ(seen.source.reason, Reason::no_permission);
  EXPECT_THAT(seen.source.detail, HasSubstr("hostPID: true"));
  EXPECT_EQ(look_.look(lists().gpu({})).source.reason, Reason::no_permission)
      << "said before there is anybody to name";
}

TEST_F(ProcessLookTest, ASimulatedNodesProcessesAreInNoPidNamespace) {
  proc_.add(4194305, "/");
  proc_.move_to_pid_namespace("pid:[4026532201]");
  const auto seen = look_.look(lists().gpu({{.pid = 4194305}}));
  EXPECT_EQ(seen.source.reason, Reason::ok);
  EXPECT_EQ(seen.processes.count(4194305), 1U);
}

TEST_F(ProcessLookTest, AHiddenProcIsSaidToBeHidden) {
  proc_.hide_others();
  const auto seen = look_.look(lists().gpu({{.pid = 7}}));
  EXPECT_EQ(seen.source.reason, Reason::no_permission);
  EXPECT_THAT(seen.source.detail, HasSubstr("hidepid"));
}

// By the code that reads a real /proc, from the files of a simulated node.
TEST(ProcessLookOnASimulatedNode, FindsTheSlurmJobAndThePods) {
  const simnode::TestFolder folder;
  const auto node = simnode::SimNode::create({.profile = "hgx-h100"}, folder.path());
  ASSERT_TRUE(node) << node.error().describe();
  const auto env = os::make_system_env("/", node->root());
  ProcessLook look(*env);
  const auto seen = look.look(Lists(*env)
                                  .gpu({{.pid = 4194305}})
                                  .gpu({{.pid = 4194309}})
                                  .gpu({{.pid = static_cast<std::uint32_t>(::getpid())}}));
  EXPECT_EQ(seen.processes.at(4194305).job,
            (SlurmJob{.id = "4711", .step = "0", .name = "pretrain"}));
  EXPECT_EQ(seen.processes.at(4194309).cgroup.runtime, "containerd");
  EXPECT_EQ(seen.processes.at(4194309).cgroup.pod_uid, "51000000-0000-4000-8000-000000000005");
  EXPECT_EQ(seen.processes.at(4194309).uid, 0U);
  if (os::shows_host_pids(*env)) {
    EXPECT_EQ(seen.processes.at(static_cast<std::uint32_t>(::getpid())).uid, ::geteuid())
        << "a process of this machine, which somebody put on a simulated GPU";
  }
}

}  // namespace
}  // namespace stoker::cluster
