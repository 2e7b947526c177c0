// Counter files: what they say is what is told, and what is wrong in them is said with its place.
#include "export/counters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "export/hgx_h100_test_support.h"
#include "export/render.h"
#include "export/text_test_support.h"
#include "health/node_status.h"
#include "model/render.h"

namespace stoker::exporting {
namespace {

std::string counted_text(const std::string& csv) {
  auto parsed = parse_counters(csv, "counters.csv");
  if (!parsed.list) return render_table(parsed.findings);
  const store::Snapshot snapshot = hgx_h100_snapshot();
  RenderOptions options;
  options.counters = std::make_shared<const CounterList>(std::move(*parsed.list));
  return render(snapshot, health::evaluate(snapshot), options, Format::prometheus).text;
}

std::set<std::string> dcgm_families(const std::string& text) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with('#') || line.starts_with("stoker_")) continue;
    names.insert(line.substr(0, line.find('{')));
  }
  return names;
}

// Each finding as "line:column severity rule".
std::vector<std::string> places(const std::string& csv) {
  std::vector<std::string> all;
  for (const Finding& finding : parse_counters(csv, "counters.csv").findings) {
    all.push_back(fmt::format("{}:{} {} {}", finding.location->line, finding.location->column,
                              to_string(finding.severity), finding.rule));
  }
  return all;
}

using Places = std::vector<std::string>;

// The rows of dcgm-exporter's own files, with our words for help: `all` or those that are on.
std::string own_files(bool all) {
  std::ifstream names(STOKER_SOURCE_DIR "/tests/golden/dcgm_names.tsv");
  std::string csv = "# FIELD, type, help\n\n";
  for (std::string line; std::getline(names, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream cells(line);
    std::string on;
    std::string name;
    std::string type;
    cells >> on >> name >> type;
    if (all || on == "on") csv += fmt::format("{} ,  {}, our help\n", name, type);
  }
  return csv;
}

TEST(Counters, TheListThatDcgmExporterHasOnGivesTheSeriesThatAreThereWithoutAFile) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  const auto by_default = render(snapshot, health::evaluate(snapshot), {}, Format::prometheus).text;
  const std::string from_file = counted_text(own_files(false));
  const auto only_series = [](const std::string& text) {
    auto lines = lines_of(text);
    std::erase_if(lines, [](const std::string& line) { return line.starts_with('#'); });
    return lines;
  };
  EXPECT_EQ(only_series(from_file), only_series(by_default));
  EXPECT_NE(from_file.find("# HELP DCGM_FI_DEV_GPU_TEMP our help\n"), std::string::npos);
}

TEST(Counters, EveryRowThatDcgmExporterShipsIsTakenAndWhatIsNotReadIsSaid) {
  const auto parsed = parse_counters(own_files(true), "all.csv");
  ASSERT_TRUE(parsed.list) << render_table(parsed.findings);
  std::set<std::string> said;
  for (const Finding& finding : parsed.findings) {
    said.insert(finding.message.substr(0, finding.message.find(' ')));
  }
  EXPECT_EQ(said,
            (std::set<std::string>{"DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_GPU_HEALTH_STATUS",
                                   "DCGM_EXP_P2P_STATUS", "DCGM_EXP_XID_ERRORS_COUNT",
                                   "DCGM_FI_DEV_ECC_INFOROM_VER", "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0",
                                   "DCGM_FI_DEV_OEM_INFOROM_VER", "DCGM_FI_DEV_POWER_INFOROM_VER",
                                   "DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_PROF_PCIE_TX_BYTES"}));
}

TEST(Counters, AnyFileOfRowsThatStokerReadsGivesExactlyThoseSeries) {
  std::vector<std::string> readable;
  for (const Field& row : all_fields()) {
    const bool there = hgx_h100_snapshot().gpus[0].readings.get(row.id).ok();
    if (row.dcgm_name.empty() || !there) continue;
    readable.emplace_back(row.dcgm_name);
    if (!row.dcgm_alias.empty()) readable.emplace_back(row.dcgm_alias);
  }
  std::mt19937 random(20260512);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same files every time
  for (int round = 0; round < 50; ++round) {
    std::shuffle(readable.begin(), readable.end(), random);
    const std::size_t count = 1 + random() % readable.size();
    std::string csv;
    for (std::size_t n = 0; n < count; ++n) {
      csv += readable[n] + (random() % 2 == 0 ? ",gauge," : " , counter , ") + "\"a, \"\"b\"\"\"";
      csv += random() % 2 == 0 ? "\n" : "\r\n\r\n# c\n";
    }
    EXPECT_EQ(dcgm_families(counted_text(csv)),
              std::set<std::string>(readable.begin(),
                                    readable.begin() + static_cast<std::ptrdiff_t>(count)))
        << csv;
  }
}

TEST(Counters, NamesTypesAndHelpAreAsTheFileSpellsThem) {
  const std::string text = counted_text(
      "dcgm_gpu_temp, gauge, \"Hot, or \"\"not\"\"\"\n"
      "DCGM_FI_DEV_FB_USED, counter,\n");
  EXPECT_NE(text.find("# HELP dcgm_gpu_temp Hot, or \"not\"\n# TYPE dcgm_gpu_temp gauge\n"
                      "dcgm_gpu_temp{gpu=\"0\""),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE DCGM_FI_DEV_FB_USED counter\n"), std::string::npos);
  EXPECT_EQ(text.find("DCGM_FI_DRIVER_VERSION"), std::string::npos) << "no row asks for it";
}

TEST(Counters, LabelRowsStandOnEverySeriesInTheOrderOfTheirNames) {
  const auto series = series_of(counted_text("DCGM_FI_DEV_VBIOS_VERSION, label, x\n"
                                             "DCGM_FI_DRIVER_VERSION, label, x\n"
                                             "DCGM_FI_DEV_ECC_CURRENT, label, x\n"
                                             "DCGM_FI_DEV_SERIAL, label, x\n"
                                             "DCGM_FI_DEV_BRAND, label, x\n"  // not known of these
                                             "DCGM_FI_DEV_GPU_TEMP, gauge, x\n"),
                                "DCGM_FI_DEV_GPU_TEMP");
  ASSERT_EQ(series.size(), 8U);
  EXPECT_NE(series[0].find(",Hostname=\"node1\",DCGM_FI_DEV_ECC_CURRENT=\"1\",DCGM_FI_DEV_SERIAL=\""
                           "1650000000000\",DCGM_FI_DEV_VBIOS_VERSION=\"96.00.74.00.01\","
                           "DCGM_FI_DRIVER_VERSION=\"580.159.04\"} 39"),
            std::string::npos)
      << series[0];
}

TEST(Counters, EveryRowThatIsWrongIsSaidWithItsPlaceAndNoneHidesAnother) {
  EXPECT_EQ(places("DCGM_FI_DEV_GPU_TEMPP, gauge, x\n"
                   "# a comment\n"
                   "DCGM_FI_DEV_SM_CLOCK,  guage, x\n"
                   "DCGM_FI_DEV_FB_USED, gauge\n"
                   "DCGM_FI_DEV_FB_FREE, gauge, used, in MiB\n"
                   "DCGM_FI_DEV_POWER_USAGE, gauge, é \"x\n"
                   "DCGM_FI_DEV_UUID, gauge, x\n"
                   "DCGM_FI_DEV_DEC_UTIL, gauge, \"x\" y\n"
                   "DCGM_FI_DEV_ENC_UTIL, gauge, \"never closed\n"
                   "DCGM_FI_DEV_MEM_CLOCK, gauge, a\x01\n"),
            (Places{"1:1 error counters-unknown-field", "3:24 error counters-wrong-type",
                    "4:1 error counters-syntax", "5:35 error counters-syntax",
                    "6:35 error counters-syntax", "7:19 error counters-wrong-type",
                    "8:34 error counters-syntax", "9:30 error counters-syntax",
                    "10:31 error counters-syntax"}));
  const auto parsed = parse_counters("DCGM_FI_DEV_GPU_TEMPP, gauge, x\n", "f");
  EXPECT_NE(parsed.findings.at(0).fix.find("DCGM_FI_DEV_GPU_TEMP"), std::string::npos);
}

TEST(Counters, WhatIsOddButClearIsAWarningAndTheRestGoesOn) {
  const std::string csv =
      "DCGM_FI_DEV_GPU_TEMP, gauge, first\n"
      "DCGM_FI_DEV_GPU_TEMP, counter, second\n"
      "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0, counter, x\n"
      "DCGM_EXP_XID_ERRORS_COUNT, counter, x\n"
      "DCGM_FI_DEV_FB_USED, histogram, x\n";
  EXPECT_EQ(places(csv),
            (Places{"2:1 warning counters-twice", "3:1 warning counters-not-read",
                    "4:1 warning counters-not-read", "5:22 warning counters-wrong-type"}));
  const std::string text = counted_text(csv);
  EXPECT_EQ(dcgm_families(text),
            (std::set<std::string>{"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_USED"}));
  EXPECT_NE(text.find("# HELP DCGM_FI_DEV_GPU_TEMP first\n# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n"),
            std::string::npos);
}

TEST(Counters, AnEmptyFileIsNoList) {
  EXPECT_EQ(places("\xef\xbb\xbf# nothing\n \n"), (Places{"1:1 error counters-empty"}));
  EXPECT_EQ(places(""), (Places{"1:1 error counters-empty"}));
}

TEST(Counters, ManyWarningsHideNoError) {
  std::string csv = "DCGM_FI_DEV_GPU_TEMP, gauge, x\n";
  for (int n = 0; n < 500; ++n) csv += "DCGM_FI_DEV_GPU_TEMP, gauge, x\n";
  csv += "WRONG, gauge, x\n";
  EXPECT_FALSE(parse_counters(csv, "f").list);
  std::string wrong;
  for (int n = 0; n < 500; ++n) wrong += "WRONG, gauge, x\n";
  EXPECT_EQ(parse_counters(wrong, "f").findings.size(), 50U);
}

}  // namespace
}  // namespace stoker::exporting
