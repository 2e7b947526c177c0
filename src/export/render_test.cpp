#include "export/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "export/hgx_h100_test_support.h"
#include "export/text_test_support.h"
#include "health/node_status.h"

namespace stoker::exporting {
namespace {

std::string text_of(const store::Snapshot& snapshot, const RenderOptions& options = {},
                    Format format = Format::prometheus) {
  return render(snapshot, health::evaluate(snapshot), options, format).text;
}

bool mentions(const std::vector<std::string>& series, std::string_view what) {
  return std::any_of(series.begin(), series.end(), [what](const std::string& line) {
    return line.find(what) != std::string::npos;
  });
}

TEST(Render, ALostHungOrStaleGpuHasNoDcgmLineAtAllAndTheOthersKeepTheirs) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  snapshot.gpus[1].state = device::GpuState::lost;
  snapshot.gpus[1].readings.mark_all(Reason::lost, golden_time);
  snapshot.gpus[2].state = device::GpuState::hung;
  snapshot.gpus[2].readings.mark_all(Reason::hung, golden_time);
  snapshot.gpus[3].readings.mark_all(Reason::stale, golden_time);
  const std::string text = text_of(snapshot);
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("DCGM_")) continue;
    for (const char* gone : {"{gpu=\"1\"", "{gpu=\"2\"", "{gpu=\"3\""}) {
      EXPECT_EQ(line.find(gone), std::string::npos) << line;
    }
  }
  EXPECT_EQ(series_of(text, "DCGM_FI_DEV_GPU_TEMP").size(), 5U);
  EXPECT_TRUE(mentions(series_of(text, "stoker_gpus"), "state=\"lost\"} 1"));
  EXPECT_TRUE(mentions(series_of(text, "stoker_gpus"), "state=\"hung\"} 1"));
  EXPECT_TRUE(mentions(series_of(text, "stoker_gpu_state"),
                       "gpu=\"1\",UUID=\"" + snapshot.gpus[1].info.uuid + "\",state=\"lost\"} 1"));
}

TEST(Render, WithoutADriverEveryGpuIsUnknownAndNothingIsFrozen) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  snapshot.source.state = device::SourceState::driver_missing;
  for (store::GpuSnapshot& gpu : snapshot.gpus)
    gpu.readings.mark_all(Reason::driver_gone, golden_time);
  const std::string text = text_of(snapshot);
  EXPECT_EQ(text.find("DCGM_FI_DEV_GPU_TEMP"), std::string::npos);
  EXPECT_TRUE(mentions(series_of(text, "stoker_gpus"), "state=\"unknown\"} 8"));
  EXPECT_TRUE(mentions(series_of(text, "stoker_verdict"), "verdict=\"critical\"} 1"));
  EXPECT_TRUE(mentions(series_of(text, "stoker_reading_missing"),
                       "field=\"temperature\",reason=\"driver_gone\"} 8"));
}

TEST(Render, ASimulatedNodeAddsOneSeriesAndNothingElse) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  const auto real = lines_of(text_of(snapshot));
  snapshot.driver->simulated = true;
  auto simulated = lines_of(text_of(snapshot));
  std::erase_if(simulated, [](const std::string& line) {
    return line.find("simulated") != std::string::npos;
  });
  EXPECT_EQ(series_of(text_of(snapshot), "stoker_simulated"),
            std::vector<std::string>{"stoker_simulated 1"});
  EXPECT_EQ(simulated, real);
}

TEST(Render, TheHostLabelIsSpelledAsAskedFor) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  const auto first = [&](HostLabel label) {
    return series_of(text_of(snapshot, {.series = {.host_label = label}}), "DCGM_FI_DEV_GPU_TEMP")
        .at(0);
  };
  EXPECT_NE(first(HostLabel::upper).find(",Hostname=\"node1\",DCGM_FI_DRIVER"), std::string::npos);
  EXPECT_NE(first(HostLabel::lower).find(",hostname=\"node1\",DCGM_FI_DRIVER"), std::string::npos);
  EXPECT_NE(first(HostLabel::both).find(",Hostname=\"node1\",hostname=\"node1\","),
            std::string::npos);
  EXPECT_EQ(first(HostLabel::none).find("ostname"), std::string::npos);
}

TEST(Render, FieldsThatAreOffAppearWhenAskedForInTheOrderOfTheirIds) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  EXPECT_TRUE(series_of(text_of(snapshot), "DCGM_FI_DEV_FB_TOTAL").empty());
  const std::string text =
      text_of(snapshot, {.series = {.extra_fields = {FieldId::memory_total, FieldId::power_limit,
                                                     FieldId::recovery_action}}});
  EXPECT_EQ(series_of(text, "DCGM_FI_DEV_FB_TOTAL").at(0).substr(0, 29),
            "DCGM_FI_DEV_FB_TOTAL{gpu=\"0\",");
  EXPECT_TRUE(series_of(text, "DCGM_FI_DEV_FB_TOTAL").at(0).ends_with(" 81559"));
  EXPECT_TRUE(series_of(text, "DCGM_FI_DEV_ENFORCED_POWER_LIMIT").at(0).ends_with(" 700.000000"));
  EXPECT_EQ(series_of(text, "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION").size(), 8U);
  EXPECT_LT(text.find("# TYPE DCGM_FI_DEV_FB_TOTAL"), text.find("# TYPE DCGM_FI_DEV_FB_FREE"));
}

TEST(Render, AnXidHasItsCodeAndTextAsLabelsAfterAllOthers) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  snapshot.gpus[0].readings.set(FieldId::last_xid, Reading::of(std::int64_t{79}, golden_time));
  const auto series = series_of(text_of(snapshot), "DCGM_FI_DEV_XID_ERRORS");
  EXPECT_TRUE(
      series.at(0).ends_with("\",err_code=\"79\",err_msg=\"GPU has fallen off the bus\"} 79"))
      << series[0];
  EXPECT_TRUE(series.at(1).ends_with("\",err_code=\"0\",err_msg=\"No Error\"} 0")) << series[1];
}

TEST(Render, SimulatedCardsAreLabelledBeforeTheirDriverIsHeard) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  const auto labelled = [&] { return series_of(text_of(snapshot), "stoker_simulated").size(); };
  snapshot.simulated_profile = "hgx-h100";
  EXPECT_EQ(labelled(), 0U) << "the driver in use is a real one";
  snapshot.driver.reset();
  EXPECT_EQ(labelled(), 1U);
  snapshot.simulated_profile.clear();
  EXPECT_EQ(labelled(), 0U);
}

TEST(Render, XidCountsAreCountersByNumber) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  snapshot.gpus[3].xids = {{31, {.count = 4}}, {79, {.count = 1}}};
  const auto series = series_of(text_of(snapshot), "stoker_xid_total");
  ASSERT_EQ(series.size(), 2U);
  EXPECT_TRUE(series[0].ends_with(",xid=\"31\"} 4"));
}

store::Snapshot mig_snapshot() {
  store::Snapshot snapshot = hgx_h100_snapshot();
  store::GpuSnapshot& gpu = snapshot.gpus[0];
  gpu.info.mig_enabled = true;
  gpu.info.migs = {
      {.uuid = "MIG-a", .profile = "1c.3g.40gb", .gpu_instance = 2, .compute_instance = 0},
      {.uuid = "MIG-b", .profile = "1c.3g.40gb", .gpu_instance = 2, .compute_instance = 1},
      {.uuid = "MIG-c", .profile = "1g.10gb", .gpu_instance = 9, .compute_instance = 0}};
  for (std::uint32_t n = 0; n < 3; ++n) {
    gpu.migs[n].set(FieldId::memory_used,
                    Reading::of(std::int64_t{1 << 20} * (n + 1), golden_time));
    gpu.migs[n].set(FieldId::tensor_active, Reading::none(Reason::pending, golden_time));
  }
  gpu.readings.set(FieldId::utilization, Reading::none(Reason::not_supported, golden_time));
  return snapshot;
}

TEST(Render, AGpuWithMigDevicesIsShownAsItsGpuInstances) {
  const std::string text = text_of(mig_snapshot());
  const auto used = series_of(text, "DCGM_FI_DEV_FB_USED");
  ASSERT_EQ(used.size(), 9U) << "two GPU instances and seven whole cards";
  EXPECT_NE(
      used[0].find("modelName=\"NVIDIA H100 80GB HBM3\",GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"2\","
                   "Hostname=\"node1\""),
      std::string::npos)
      << used[0];
  EXPECT_TRUE(used[0].ends_with(" 1"));
  EXPECT_TRUE(used[1].ends_with(" 3"));
}

TEST(Render, AGpuInstanceHasItsCardsTemperatureButNeverItsCardsRates) {
  const std::string text = text_of(mig_snapshot());
  EXPECT_EQ(series_of(text, "DCGM_FI_DEV_GPU_TEMP").size(), 9U);
  EXPECT_EQ(series_of(text, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE").size(), 7U);
  EXPECT_EQ(series_of(text, "DCGM_FI_DEV_GPU_UTIL").size(), 7U);
}

TEST(Render, AGpuThatWasNeverOpenedIsNamedByItsAddress) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  store::GpuSnapshot gone;
  gone.info.pci = {.domain = 0, .bus = 0xe1, .device = 0, .function = 0};
  gone.state = device::GpuState::lost;
  gone.readings.mark_all(Reason::lost, golden_time);
  snapshot.gpus.push_back(gone);
  EXPECT_TRUE(mentions(series_of(text_of(snapshot), "stoker_gpu_state"),
                       "{gpu=\"\",UUID=\"\",pci_bus_id=\"00000000:E1:00.0\",state=\"lost\"} 1"));
}

TEST(Render, NoSeriesIsToldTwice) {
  store::Snapshot snapshot = mig_snapshot();
  snapshot.driver->simulated = true;
  for (const Format format : {Format::prometheus, Format::openmetrics}) {
    std::set<std::string> seen;
    for (const std::string& line : lines_of(text_of(snapshot, {}, format))) {
      const std::string key = line.starts_with('#') ? line : line.substr(0, line.rfind(' '));
      EXPECT_TRUE(seen.insert(key).second) << line;
    }
  }
}

TEST(Render, NoValueIsNotANumberOrEmpty) {
  const std::regex line_shape(
      R"([a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\.)*",?)*\})? -?[0-9.e+-]+)");
  for (const std::string& line : lines_of(text_of(mig_snapshot()))) {
    EXPECT_TRUE(line.starts_with('#') || std::regex_match(line, line_shape)) << line;
  }
}

TEST(Render, OpenMetricsEndsWithEofAndKeepsEverySeriesName) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  const auto plain = lines_of(text_of(snapshot));
  auto open = lines_of(text_of(snapshot, {}, Format::openmetrics));
  EXPECT_EQ(open.back(), "# EOF");
  const auto only_series = [](std::vector<std::string> lines) {
    std::erase_if(lines, [](const std::string& line) { return line.starts_with('#'); });
    return lines;
  };
  EXPECT_EQ(only_series(open), only_series(plain));
}

TEST(Render, OpenMetricsCallsDcgmsCountersUnknownAndOursByTheirFamilyName) {
  const std::string text = text_of(hgx_h100_snapshot(), {}, Format::openmetrics);
  EXPECT_NE(text.find("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE stoker_probe_restarts counter\n"), std::string::npos);
  EXPECT_NE(text.find("\nstoker_probe_restarts_total 0\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE stoker_gpu info\n"), std::string::npos);
  EXPECT_NE(text.find("# UNIT stoker_gpu_nvlink_data_tx_bytes bytes\n"), std::string::npos);
}

TEST(Render, AnEmptyNodeStillTellsItsVerdict) {
  const store::Snapshot nothing;
  EXPECT_TRUE(mentions(series_of(text_of(nothing), "stoker_verdict"), "verdict=\"unknown\"} 1"));
  EXPECT_EQ(text_of(nothing).find("DCGM_"), std::string::npos);
}

}  // namespace
}  // namespace stoker::exporting
