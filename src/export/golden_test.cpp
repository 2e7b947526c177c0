// The whole of /metrics for eight H100s, as a file that people can read. After a change that is
// meant, run with STOKER_UPDATE_GOLDEN=1 and read the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "export/hgx_h100_test_support.h"
#include "export/render.h"
#include "export/text_test_support.h"
#include "health/node_status.h"

namespace stoker::exporting {
namespace {

const std::string golden_folder = STOKER_SOURCE_DIR "/tests/golden/";

std::string rendered(const RenderOptions& options = {.version = "0.1.0", .revision = "abcdef"}) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  return render(snapshot, health::evaluate(snapshot), options, Format::prometheus).text;
}

std::string read_golden(const std::string& name) {
  const std::ifstream file(golden_folder + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

TEST(Golden, TheMetricsOfEightH100sAreTheGoldenFile) {
  const std::string name = "metrics_hgx_h100.prom";
  const std::string text = rendered();
  if (std::getenv("STOKER_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(golden_folder + name) << text;
  }
  const auto want = lines_of(read_golden(name));
  const auto got = lines_of(text);
  for (std::size_t n = 0; n < std::min(want.size(), got.size()); ++n) {
    ASSERT_EQ(got[n], want[n]) << "line " << n + 1 << " of " << name;
  }
  EXPECT_EQ(got.size(), want.size());
}

struct Listed {
  bool on;
  std::string name, type, value, id, alias;
};

std::vector<Listed> listed() {
  std::vector<Listed> rows;
  for (const std::string& line : lines_of(read_golden("dcgm_names.tsv"))) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    if (cells.size() == 7 && cells[2] != "label") {
      rows.push_back({cells[0] == "on", cells[1], cells[2], cells[3], cells[5],
                      cells[6] == "-" ? "" : cells[6]});
    }
  }
  return rows;
}

TEST(Golden, EverySeriesThatDcgmExporterHasOnByDefaultIsThereWithItsTypeIdAndNumberFormat) {
  const std::string text = rendered();
  const std::string all = "\n" + text;
  int on = 0;
  for (const Listed& row : listed()) {
    if (!row.on) continue;
    ++on;
    EXPECT_NE(all.find("\n# TYPE " + row.name + " " + row.type + "\n"), std::string::npos)
        << row.name;
    const auto series = series_of(text, row.name);
    ASSERT_EQ(series.size(), 8U) << row.name;
    const std::string value = series[0].substr(series[0].rfind(' ') + 1);
    const auto point = value.find('.');
    if (row.value == "double") {
      EXPECT_EQ(value.size() - point, 7U) << row.name << " wants six decimals: " << value;
    } else {
      EXPECT_EQ(point, std::string::npos) << row.name << " wants a whole number: " << value;
    }
  }
  EXPECT_EQ(on, 25);
}

TEST(Golden, TheFieldTableHasDcgmsIdsAndNewNames) {
  std::set<std::string> missing;
  for (const Listed& row : listed()) {
    const auto id = find_field(row.name);
    if (!id) {
      missing.insert(row.name);
      continue;
    }
    const Field& ours = field(*id);
    EXPECT_EQ(std::to_string(ours.dcgm_id), row.id) << row.name;
    EXPECT_EQ(ours.dcgm_alias, row.alias) << row.name;
    EXPECT_TRUE(!row.on || ours.series == Series::on) << row.name;
    // These may fall, which no counter may; dcgm-exporter lists the pages as a counter, off by
    // default, and the two rates twice: as a counter, off, and as a gauge, on.
    const std::set<std::string> gauges = {
        "DCGM_FI_DEV_RETIRED_PENDING", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"};
    const bool counter = row.type == "counter" && !gauges.contains(row.name);
    EXPECT_EQ(ours.kind == FieldKind::counter, counter) << row.name;
  }
  // All off by default: counts over a window and health watches of the exporter's own making, and the
  // counter of one single link.
  EXPECT_EQ(missing,
            (std::set<std::string>{"DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_GPU_HEALTH_STATUS",
                                   "DCGM_EXP_P2P_STATUS", "DCGM_EXP_XID_ERRORS_COUNT",
                                   "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0"}));
}

TEST(Golden, NothingIsOnThatDcgmExporterDoesNotHaveOn) {
  std::set<std::string> on;
  for (const Listed& row : listed()) {
    if (row.on) on.insert(row.name);
  }
  for (const Field& row : all_fields()) {
    EXPECT_TRUE(row.series != Series::on || on.contains(std::string(row.dcgm_name))) << row.name;
  }
}

TEST(Golden, EveryDcgmLineHasTheLabelsOfDcgmExporterInTheirOrder) {
  for (const std::string& line : lines_of(rendered())) {
    if (!line.starts_with("DCGM_")) continue;
    EXPECT_NE(line.find("{gpu=\""), std::string::npos) << line;
    std::size_t at = 0;
    for (const char* label : {"gpu=\"", ",UUID=\"GPU-", ",pci_bus_id=\"00000000:",
                              ",device=\"nvidia", ",modelName=\"NVIDIA H100 80GB HBM3\"",
                              ",Hostname=\"node1\"", ",DCGM_FI_DRIVER_VERSION=\"580.159.04\""}) {
      const std::size_t found = line.find(label, at);
      ASSERT_NE(found, std::string::npos) << label << " is missing or out of order in " << line;
      at = found;
    }
  }
}

}  // namespace
}  // namespace stoker::exporting
