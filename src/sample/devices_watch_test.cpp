#include "sample/devices_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <latch>

#include "os/system_env.h"

namespace stoker::sample {
namespace {

TEST(DevicesWatch, LooksAgainUntilItIsStopped) {
  const auto env = os::make_system_env("/nonexistent", "/nonexistent");
  std::latch three_looks(3);
  std::atomic<int> looks = 0;
  DevicesWatch watch(
      *env,
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

}  // namespace
}  // namespace stoker::sample
