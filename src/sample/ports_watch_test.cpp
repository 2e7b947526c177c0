#include "sample/ports_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>

#include "base/thread_safety.h"
#include "os/system_env.h"
#include "sample/hanging_env_test_support.h"

namespace stoker::sample {
namespace {

namespace fs = std::filesystem;

class PortsOfANode : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stoker-ports-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    env_ = os::make_system_env(root_.string(), root_.string());
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path put_port(const std::string& device) const {
    const fs::path port = root_ / "sys/class/infiniband" / device / "ports/1";
    fs::create_directories(port);
    for (const auto* file : {"state", "phys_state"}) std::ofstream(port / file) << "4: ACTIVE\n";
    return port;
  }

  fs::path root_;
  std::shared_ptr<const os::Env> env_;
};

TEST_F(PortsOfANode, AreLookedAtAgainUntilTheWatchIsStopped) {
  put_port("mlx5_0");
  std::latch three_looks(3);
  std::atomic<int> looks = 0;
  PortsWatch watch(
      {.env = env_, .left_out = {}, .period = Milliseconds(10), .tell = [&](const RdmaPorts& seen) {
         EXPECT_EQ(seen.ports.size(), 1U);
         if (++looks <= 3) three_looks.count_down();
       }});
  watch.start();
  three_looks.wait();
  watch.stop();
  const int after = looks;
  watch.stop();
  EXPECT_EQ(looks, after);
}

TEST_F(PortsOfANode, AreToldWhileOneCardHangsWhichIsNamedAndHoldsNobodyUp) {
  for (const auto* device : {"mlx5_0", "mlx5_1", "mlx5_2"}) put_port(device);
  const auto env = std::make_shared<HangingEnv>(env_, "mlx5_1/");
  Mutex mutex;
  RdmaPorts last;
  std::latch looked(3);
  std::atomic<int> looks = 0;
  PortsWatch watch(
      {.env = env, .left_out = {}, .period = Milliseconds(100), .tell = [&](RdmaPorts seen) {
         const MutexLock lock(mutex);
         last = std::move(seen);
         if (++looks <= 3) looked.count_down();
       }});
  watch.start();
  looked.wait();
  const auto began = std::chrono::steady_clock::now();
  watch.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  ASSERT_EQ(last.ports.size(), 2U);
  EXPECT_EQ(last.ports[1].device, "mlx5_2");
  ASSERT_EQ(last.unread.size(), 1U);
  EXPECT_EQ(last.unread[0].rfind("mlx5_1: its driver has not answered for ", 0), 0U);
  EXPECT_EQ(last.problem, "");
  env->let_go();
}

TEST_F(PortsOfANode, AreToldAgainOfACardThatAnswersAtLast) {
  put_port("mlx5_1");
  const auto env = std::make_shared<HangingEnv>(env_, "mlx5_1/");
  std::latch silent(1);
  std::latch answered(1);
  std::atomic<bool> is_silent = false;
  std::atomic<bool> is_answered = false;
  PortsWatch watch(
      {.env = env, .left_out = {}, .period = Milliseconds(20), .tell = [&](const RdmaPorts& seen) {
         if (!seen.unread.empty() && !is_silent.exchange(true)) silent.count_down();
         if (!seen.ports.empty() && !is_answered.exchange(true)) answered.count_down();
       }});
  watch.start();
  silent.wait();
  env->let_go();
  answered.wait();
}

TEST_F(PortsOfANode, AreMissedWhenTheirDeviceIsGone) {
  put_port("mlx5_0");
  std::latch there(1);
  std::latch gone(1);
  std::atomic<int> step = 0;
  PortsWatch watch(
      {.env = env_, .left_out = {}, .period = Milliseconds(10), .tell = [&](const RdmaPorts& seen) {
         if (seen.ports.size() == 1 && step == 0) {
           step = 1;
           there.count_down();
         }
         if (seen.ports.empty() && seen.absent.size() == 1 && step == 1) {
           EXPECT_EQ(seen.absent[0].device, "mlx5_0");
           step = 2;
           gone.count_down();
         }
       }});
  watch.start();
  there.wait();
  fs::remove_all(root_ / "sys/class/infiniband/mlx5_0");
  gone.wait();
}

}  // namespace
}  // namespace stoker::sample
