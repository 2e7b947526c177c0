#include "device/simnode/kernel_log.h"

#include "device/simnode/simnode_test_support.h"
#include "device/simnode/xid.h"

namespace stoker::simnode {
namespace {

TEST(KernelLog, RecordsAreNumberedOnFromTheLast) {
  const TestFolder folder;
  const KernelLog log(folder.path() + "/kmsg");
  ASSERT_TRUE(log.append(KernelLevel::error, 10, {"first", "second"}));
  ASSERT_TRUE(log.append(KernelLevel::warning, 20, {"third"}));
  EXPECT_EQ(read_file(log.path()).value_or(""),
            "3,0,10,-;first\n3,1,10,-;second\n4,2,20,-;third\n");
  EXPECT_TRUE(log.has("sec"));
  EXPECT_FALSE(log.has("irst"));
}

TEST(KernelLog, ALogThatBeganElsewhereIsContinued) {
  const TestFolder folder;
  const std::string path = folder.write("kmsg", "6,4711,99,c;as captured\n");
  ASSERT_TRUE(KernelLog(path).append(KernelLevel::info, 100, {"next"}));
  EXPECT_EQ(read_file(path).value_or(""), "6,4711,99,c;as captured\n6,4712,100,-;next\n");
}

TEST(KernelLog, LongLogsKeepCounting) {
  const TestFolder folder;
  const KernelLog log(folder.path() + "/kmsg");
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(log.append(KernelLevel::info, 1, {std::string(900, 'x')}));
  }
  EXPECT_TRUE(read_file(log.path()).value_or("").find("\n6,199,1,-;") != std::string::npos);
}

// Forms 3 to 5, 8 and 23 of our table of kernel lines, by driver.
TEST(XidLine, NamesAProcessInTheWayOfItsDriver) {
  auto state = std::make_unique<sim::State>();
  sim::Gpu& gpu = state->gpus[0];
  gpu.pci.bus = 0x3b;
  gpu.identity.architecture = 7;
  const auto line = [&](const char* driver, unsigned code) {
    std::snprintf(state->driver.driver_version, sizeof state->driver.driver_version, "%s", driver);
    return xid_line(*state, 0, code, 14);
  };
  EXPECT_EQ(line("535.54.03", 43),
            "NVRM: Xid (PCI:0000:3b:00): 43, pid='<unknown>', name=<unknown>, channel 0x0000000a");
  EXPECT_EQ(line("580.159.04", 43), "NVRM: Xid (PCI:0000:3b:00): 43, channel 0x0000000a");
  gpu.processes[0].kind = sim::ProcessKind::compute;
  gpu.processes[0].pid = 1329;
  std::snprintf(gpu.processes[0].name, sizeof gpu.processes[0].name, "python3");
  EXPECT_EQ(line("580.159.04", 43),
            "NVRM: Xid (PCI:0000:3b:00): 43, pid=1329, name=python3, channel 0x0000000a");
  EXPECT_EQ(
      line("580.159.04", 74),
      "NVRM: Xid (PCI:0000:3b:00): 74, pid=1329, name=python3, NVLink: fatal error detected on "
      "link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(line("580.159.04", 79), "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  EXPECT_EQ(line("580.159.04", 999),
            "NVRM: Xid (PCI:0000:3b:00): 999, pid=1329, name=python3, Ch 0000000a");
}

TEST(XidLine, RecoveryFollowsTheCatalogue) {
  EXPECT_EQ(recovery_of(79), Recovery::reboot);
  EXPECT_EQ(recovery_of(48), Recovery::reset);
  EXPECT_EQ(recovery_of(63), Recovery::drain_reset);
  EXPECT_EQ(recovery_of(31), Recovery::none);
  EXPECT_EQ(recovery_of(43), Recovery::none);
}

}  // namespace
}  // namespace stoker::simnode
