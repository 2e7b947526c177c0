// stoker checks and stoker explain check, end to end.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

TEST(Checks, AreListedWithWhatTheyCompareAndWhoseRuleItIs) {
  const auto table = run_stoker({"checks"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(
      table.out.find("\ntemperature-slowdown  error\n  what    temperature at least this card's "
                     "slowdown_celsius, for 10s\n  source  https://docs.nvidia.com/"),
      std::string::npos)
      << table.out;
  const auto json = run_stoker({"checks", "-o", "json"});
  EXPECT_EQ(json.status, 0) << json.err;
  EXPECT_NE(json.out.find(R"("id": "row-remap-failed")"), std::string::npos) << json.out;
}

TEST(Checks, OfAFolderAreReadAndItsMistakesTold) {
  std::string folder = ::testing::TempDir() + "stoker-checks-XXXXXX";
  folder = ::mkdtemp(folder.data());
  const auto write = [&](const char* text) { std::ofstream(folder + "/site.yaml") << text; };
  write("checks:\n  - {id: pcie-replays, limit: 100, enabled: false}\n");
  const auto good = run_stoker({"checks", "--folder", folder});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_NE(good.out.find("pcie-replays  warning  (not enabled)\n  what    rise of pcie_replays "
                          "within 1m above 100\n"),
            std::string::npos)
      << good.out;
  write("checks:\n  - {id: pcie-replay, limit: 100}\n");
  const auto wrong = run_stoker({"checks", "--folder", folder});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("site.yaml:2:10"), std::string::npos) << wrong.err;
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run_stoker({"checks", "--folder", folder}).status, 2);
}

TEST(Checks, AreExplained) {
  const auto said = run_stoker({"explain", "check", "hot-card"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("  choice  NVIDIA names no limit"), std::string::npos) << said.out;
  const auto rule = run_stoker({"explain", "check", "gpu-lost"});
  EXPECT_EQ(rule.status, 0) << rule.err;
  EXPECT_NE(rule.out.find("NVML_ERROR_GPU_IS_LOST"), std::string::npos) << rule.out;
  const auto data = run_stoker({"explain", "check", "gpu-lost", "-o", "json"});
  EXPECT_NE(data.out.find("\"kind\": \"rule\""), std::string::npos) << data.out;
  const auto wrong = run_stoker({"explain", "check", "hot-cart"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("hot-card"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace stoker::test
