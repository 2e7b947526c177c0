#include "sample/ports_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>

#include "os/system_env.h"

namespace stoker::sample {
namespace {

namespace fs = std::filesystem;

TEST(PortsWatch, LooksAgainUntilItIsStoppedAndSaysAtWhichDeviceItIs) {
  std::string name = (fs::temp_directory_path() / "stoker-ports-XXXXXX").string();
  const fs::path root = ::mkdtemp(name.data());
  const fs::path port = root / "sys/class/infiniband/mlx5_0/ports/1";
  fs::create_directories(port);
  std::ofstream(port / "state") << "4: ACTIVE\n";
  const auto env = os::make_system_env(root.string(), root.string());
  std::latch three_looks(3);
  std::atomic<int> looks = 0;
  std::atomic<int> devices = 0;
  PortsWatch watch({.env = *env,
                    .left_out = {},
                    .period = Milliseconds(1),
                    .tell =
                        [&](const RdmaPorts& seen) {
                          EXPECT_EQ(seen.ports.size(), 1U);
                          if (++looks <= 3) three_looks.count_down();
                        },
                    .tell_device =
                        [&](const std::string& device) {
                          EXPECT_EQ(device, "mlx5_0");
                          ++devices;
                        }});
  watch.start();
  three_looks.wait();
  watch.stop();
  EXPECT_EQ(looks, devices);
  fs::remove_all(root);
}

}  // namespace
}  // namespace stoker::sample
