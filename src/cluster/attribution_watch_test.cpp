#include "cluster/attribution_watch.h"

#include <gtest/gtest.h>

#include "cluster/fake_proc_test_support.h"
#include "store/store_test_support.h"

namespace stoker::cluster {
namespace {

// A store of one GPU, and a watch that fills it. A kubelet says what `pods_` is.
class AttributionWatchTest : public testing::Test {
 protected:
  AttributionWatchTest() {
    store_.on_status(store::status_of(device::SourceState::running));
    store_.on_inventory({gpu_});
  }

  void TearDown() override { watch_.reset(); }

  void start() {
    watch_.emplace(
        AttributionParts{.env = proc_.env(),
                         .changes = changes_,
                         .snapshot = [this] { return store_.snapshot(); },
                         .list_pods = [this](const std::stop_token&) -> Result<PodsAnswer> {
                           auto pods = asked();
                           if (!pods) return fail(pods.error());
                           return PodsAnswer{.containers = std::move(*pods)};
                         },
                         .tell =
                             [this](Attribution told) {
                               store_.on_attribution(told);
                               const MutexLock lock(mutex_);
                               last_ = std::move(told);
                               news_.notify_all();
                             },
                         .period = Milliseconds(20)});
    watch_->start();
  }
  void list(std::vector<device::ProcessInfo> processes) {
    store_.on_processes(gpu_.pci, Reading::of(std::int64_t{1}, proc_.env().clock().monotonic()),
                        processes);
    changes_.on_processes(gpu_.pci, {}, processes);
  }
  void answer(Result<PodResources> pods) {
    const MutexLock lock(mutex_);
    pods_ = std::move(pods);
  }
  // Waits until something is told of which `is` is true.
  template <typename Is>
  Attribution await(const Is& is) {
    mutex_.lock();
    while (!is(last_)) news_.wait(mutex_);
    Attribution found = last_;
    mutex_.unlock();
    return found;
  }

  const device::GpuInfo gpu_ = store::gpu_info(0);
  FakeProc proc_;
  store::Store store_{system_clock(), {.hostname = "node1"}};
  ProcessChanges changes_;
  std::optional<AttributionWatch> watch_;

 private:
  Result<PodResources> asked() {
    const MutexLock lock(mutex_);
    return pods_;
  }

  Mutex mutex_;
  CondVar news_;
  Attribution last_ GUARDED_BY(mutex_);
  Result<PodResources> pods_ GUARDED_BY(mutex_) = PodResources{};
};

PodResources pod_on(const device::GpuInfo& gpu) {
  return {{.pod = "trainer",
           .pod_namespace = "team",
           .container = "main",
           .devices = {{.resource = "nvidia.com/gpu", .ids = {gpu.uuid}}}}};
}

const std::string pods_cgroup =
    "/kubepods/burstable/pod0d3b1a2c-1111-4222-8333-444455556666/" + std::string(64, 'a');

TEST_F(AttributionWatchTest, NamesTheUserThePodAndTheContainerOfAProcess) {
  proc_.add(7, pods_cgroup);
  answer(pod_on(gpu_));
  start();
  list({{.pid = 7}});
  const auto told = await([](const Attribution& one) { return one.owners.contains(7); });
  EXPECT_EQ(told.owners.at(7).user, "ada");
  EXPECT_EQ(told.owners.at(7).pod->pod, "trainer");
  EXPECT_EQ(told.owners.at(7).pod->container, "main");
  EXPECT_EQ(told.holds.at(gpu_.uuid).front().holder.pod, "trainer");
  EXPECT_EQ(store_.snapshot().attribution->owners.count(7), 1U);
}

TEST_F(AttributionWatchTest, APodThatIsGoneIsGoneAtTheNextAnswer) {
  answer(pod_on(gpu_));
  start();
  await([](const Attribution& one) { return !one.holds.empty(); });
  answer(PodResources{});
  const auto told = await([](const Attribution& one) { return one.holds.empty(); });
  EXPECT_EQ(told.pods.reason, Reason::ok);
}

TEST_F(AttributionWatchTest, WhileTheKubeletIsAwayItsLastWordStands) {
  answer(pod_on(gpu_));
  start();
  await([](const Attribution& one) { return !one.holds.empty(); });
  answer(fail(ErrorCode::unavailable, "nothing listens"));
  const auto told = await([](const Attribution& one) { return !one.pods.detail.empty(); });
  EXPECT_EQ(told.holds.size(), 1U);
  EXPECT_EQ(told.pods.reason, Reason::ok);
}

TEST_F(AttributionWatchTest, AProcessThatLeavesTheListIsForgotten) {
  proc_.add(7, "/");
  start();
  list({{.pid = 7}});
  await([](const Attribution& one) { return one.owners.contains(7); });
  list({});
  await([](const Attribution& one) { return one.owners.empty(); });
  EXPECT_TRUE(store_.snapshot().attribution->owners.empty());
}

TEST_F(AttributionWatchTest, StopsWhileItWaits) {
  start();
  await([](const Attribution& one) { return one.pods.reason == Reason::ok; });
  watch_->stop();
  watch_->stop();
}

}  // namespace
}  // namespace stoker::cluster
