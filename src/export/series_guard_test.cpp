// The bound on series: whole families go, in a stated order, and what went is told.
#include "export/series_guard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "export/hgx_h100_test_support.h"
#include "export/render.h"
#include "export/text_test_support.h"
#include "health/node_status.h"

namespace stoker::exporting {
namespace {

std::size_t series_in(const std::string& text) {
  const auto lines = lines_of(text);
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& line) { return !line.starts_with('#'); }));
}

Rendered rendered(std::size_t most, Format format = Format::prometheus) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  RenderOptions options;
  options.series.max_series = most;
  return render(snapshot, health::evaluate(snapshot), options, format);
}

TEST(SeriesGuard, BelowTheBoundNothingIsTouched) {
  const std::size_t all = series_in(rendered(default_max_series).text);
  EXPECT_TRUE(rendered(all).dropped.empty());
  EXPECT_EQ(rendered(all).text, rendered(default_max_series).text);
  EXPECT_EQ(rendered(all).text.find(dropped_metric), std::string::npos);
}

TEST(SeriesGuard, AboveItTheFamiliesWithTheMostSeriesGoWholeAndAreTold) {
  const std::string whole = rendered(default_max_series).text;
  const std::size_t all = series_in(whole);
  for (const std::size_t most : {all - 1, all / 2, all / 4}) {
    const Rendered cut = rendered(most);
    EXPECT_LE(series_in(cut.text), most);
    ASSERT_FALSE(cut.dropped.empty());
    std::uint64_t last = cut.dropped.front().series;
    for (const DroppedFamily& family : cut.dropped) {
      EXPECT_TRUE(series_of(cut.text, family.name).empty()) << family.name;
      EXPECT_EQ(cut.text.find("# TYPE " + family.name + " "), std::string::npos) << family.name;
      EXPECT_LE(family.series, last);
      last = family.series;
      EXPECT_NE(cut.text.find("stoker_series_dropped{family=\"" + family.name + "\"} " +
                              std::to_string(family.series) + "\n"),
                std::string::npos);
    }
    // What stayed stands there as before, in its order.
    auto kept = lines_of(cut.text);
    std::erase_if(kept, [](const std::string& line) {
      return line.find(dropped_metric) != std::string::npos;
    });
    const auto before = lines_of(whole);
    EXPECT_TRUE(std::ranges::all_of(kept, [&before](const std::string& line) {
      return std::ranges::find(before, line) != before.end();
    }));
  }
}

TEST(SeriesGuard, WhatSaysWhetherTheNodeIsWellStaysWhateverTheBound) {
  for (const Format format : {Format::prometheus, Format::openmetrics}) {
    const Rendered least = rendered(1, format);
    EXPECT_EQ(series_of(least.text, "stoker_gpu_state").size(), 32U);
    EXPECT_EQ(series_of(least.text, "stoker_verdict").size(), 4U);
    EXPECT_TRUE(series_of(least.text, "DCGM_FI_DEV_GPU_TEMP").empty());
  }
}

TEST(SeriesGuard, AFullNodeWithEveryFieldOnIsFarBelowTheDefault) {
  store::Snapshot snapshot = hgx_h100_snapshot();
  for (store::GpuSnapshot& gpu : snapshot.gpus) {
    for (std::uint32_t n = 0; n < 7; ++n) {
      gpu.info.migs.push_back({.uuid = "MIG-" + std::to_string(n),
                               .profile = "1g.10gb",
                               .gpu_instance = 7 + n,
                               .compute_instance = 0,
                               .memory_bytes = 0,
                               .multiprocessors = 0});
    }
    for (const Field& row : all_fields()) {
      gpu.readings.set(row.id, Reading::of(std::int64_t{1}, golden_time));
    }
  }
  RenderOptions options;
  for (const Field& row : all_fields()) options.series.extra_fields.push_back(row.id);
  const Rendered all = render(snapshot, health::evaluate(snapshot), options, Format::prometheus);
  EXPECT_TRUE(all.dropped.empty());
  EXPECT_LT(series_in(all.text) * 4, default_max_series) << series_in(all.text);
  EXPECT_GT(series_in(all.text), 3000U);
}

TEST(SeriesGuard, TheNodeLabelStandsOnEverySeries) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  RenderOptions options;
  options.series.node_label = "worker-3";
  const auto text = render(snapshot, health::evaluate(snapshot), options, Format::prometheus).text;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with('#')) continue;
    EXPECT_NE(line.find("node=\"worker-3\"}"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace stoker::exporting
