// Counter files, end to end: the built program with a mounted ConfigMap that changes under its feet.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/asking.h"
#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

class Counters : public ::testing::Test {
 protected:
  // A ConfigMap as the kubelet mounts it: metrics -> ..data/metrics, ..data -> a folder of one version;
  // a change is a new folder and one rename.
  void mount(const std::string& version, const std::string& metrics) {
    const fs::path map = folder_.path("map");
    fs::create_directories(map / version);
    folder_.write("map/" + version + "/metrics", metrics);
    fs::create_directory_symlink(version, map / "..data_tmp");
    fs::rename(map / "..data_tmp", map / "..data");
    if (!fs::is_symlink(map / "metrics")) fs::create_symlink("..data/metrics", map / "metrics");
  }

  std::vector<std::string> up() const {
    return {"up",       "--sim",       "hgx-h100",   "--data",           folder_.path("data"),
            "--listen", "127.0.0.1:0", "--counters", folder_.path("map")};
  }

  TempFolder folder_;
};

TEST_F(Counters, AConfigMapThatChangesIsTakenOverAndOneThatIsWrongIsSaid) {
  mount("..one", "DCGM_FI_DEV_GPU_TEMP, gauge, Heat\nDCGM_FI_DEV_SERIAL, label, x\n");
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto first = get_until(url + "/metrics", "\nDCGM_FI_DEV_GPU_TEMP{gpu=\"7\"");
  EXPECT_TRUE(has(first, "# HELP DCGM_FI_DEV_GPU_TEMP Heat\n")) << first;
  EXPECT_TRUE(has(first, ",DCGM_FI_DEV_SERIAL=\""));
  EXPECT_FALSE(has(first, "DCGM_FI_DEV_POWER_USAGE"));

  mount("..two", "DCGM_FI_DEV_POWER_USAGE, gauge, Power\n");
  const auto second = get_until(url + "/metrics", "\nDCGM_FI_DEV_POWER_USAGE{gpu=\"7\"");
  EXPECT_TRUE(has(second, "# HELP DCGM_FI_DEV_POWER_USAGE Power\n"));
  EXPECT_FALSE(has(second, "DCGM_FI_DEV_GPU_TEMP"));

  mount("..three", "DCGM_FI_DEV_POWER_USAGE, gauge, Power\nDCGM_FI_DEV_GPU_TMP, gauge, x\n");
  const auto status = get_until(url + "/api/v1/status", "counters-not-reloaded");
  EXPECT_TRUE(has(status, "metrics:2:1: DCGM has no field \\\"DCGM_FI_DEV_GPU_TMP\\\"")) << status;
  EXPECT_TRUE(has(status, "\"verdict\":\"ok\"")) << "a counter file says nothing about the node";
  const auto third = get(url + "/metrics");
  EXPECT_TRUE(has(third, "\nDCGM_FI_DEV_POWER_USAGE{gpu=\"7\""));
  EXPECT_TRUE(has(third, "rule=\"counters-not-reloaded\",severity=\"warning\"} 1\n"));

  mount("..four", "DCGM_FI_DEV_GPU_TEMP, gauge, Heat\n");
  EXPECT_TRUE(has(get_until(url + "/metrics", "\nDCGM_FI_DEV_GPU_TEMP{"), "_TEMP{gpu=\"7\""));
  EXPECT_FALSE(has(get(url + "/api/v1/status"), "counters-not-reloaded"));
}

TEST_F(Counters, AFileThatIsWrongAtStartIsSaidRowByRowAndNothingStarts) {
  mount("..one",
        "DCGM_FI_DEV_GPU_TMP, gauge, x\nDCGM_FI_DEV_NVLINK_BANDWIDTH_L0, counter, x\n"
        "DCGM_FI_DEV_FB_USED, gauge\n");
  const auto outcome = run_stoker(up());
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(folder_.path("data")));
  fs::remove_all(folder_.path("map"));
  const auto missing = run_stoker(up());
  EXPECT_EQ(missing.status, 2);
  expect_golden("cli/counters_errors.txt",
                replaced(outcome.err + "\n" + missing.err, folder_.path(), "FOLDER/"));
}

TEST_F(Counters, TooManySeriesAreCutByFamilyAndSaidUntilTheBoundIsRaised) {
  const auto config = folder_.write(
      "stoker.yaml", "metrics: {max_series: 300, node_label: worker-3, host_label: both}\n");
  mount("..one", "DCGM_FI_DEV_GPU_TEMP, gauge, x\n");
  auto arguments = up();
  arguments.insert(arguments.end(), {"--config", config});
  StokerProcess agent(arguments);
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  // A link's state comes for each of 144 links: the largest family.
  const auto cut =
      get_until(url + "/metrics", "stoker_series_dropped{family=\"stoker_nvlink_state\"");
  EXPECT_FALSE(has(cut, "\nstoker_nvlink_state{")) << cut;
  EXPECT_TRUE(has(cut, ",Hostname=\""));
  EXPECT_TRUE(has(cut, ",hostname=\""));
  EXPECT_TRUE(has(cut, ",node=\"worker-3\"} "));
  EXPECT_TRUE(has(cut, "\nstoker_verdict{verdict=\"ok\",node=\"worker-3\"} "));
  const auto status = get(url + "/api/v1/status");
  EXPECT_TRUE(has(status, "series-dropped")) << status;
  EXPECT_TRUE(has(status, "stoker_nvlink_state: 144 series")) << status;

  folder_.write("stoker.yaml", "metrics: {max_series: 100000}\n");
  agent.signal(SIGHUP);
  EXPECT_TRUE(has(get_until(url + "/metrics", "\nstoker_nvlink_state{"), "stoker_nvlink_state{"));
  EXPECT_FALSE(has(get(url + "/api/v1/status"), "series-dropped"));
}

}  // namespace
}  // namespace stoker::test
