#include "sample/devices_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>

#include "os/system_env.h"
#include "sample/hanging_env_test_support.h"

namespace stoker::sample {
namespace {

TEST(DevicesWatch, LooksAgainUntilItIsStopped) {
  const std::shared_ptr<const os::Env> env = os::make_system_env("/nonexistent", "/nonexistent");
  std::latch three_looks(3);
  std::atomic<int> looks = 0;
  DevicesWatch watch(
      env,
      [&](const NodeDevices& seen) {
        EXPECT_TRUE(seen.gpus.empty());
        if (++looks <= 3) three_looks.count_down();
      },
      Milliseconds(1));
  watch.start();
  three_looks.wait();
  watch.stop();
  const int after = looks;
  watch.stop();
  EXPECT_EQ(looks, after);
}

TEST(DevicesWatch, EndsWhileItsLookHangs) {
  const auto env = std::make_shared<HangingEnv>(os::make_system_env("/nonexistent", "/nonexistent"),
                                                "/sys/class/infiniband");
  std::atomic<int> looks = 0;
  {
    DevicesWatch watch(env, [&](const NodeDevices&) { ++looks; }, Milliseconds(1));
    watch.start();
    const auto began = std::chrono::steady_clock::now();
    watch.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  }
  EXPECT_EQ(looks, 0);
  env->let_go();
}

}  // namespace
}  // namespace stoker::sample
