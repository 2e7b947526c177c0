// The checks that are built in: each fires on what it is for, and is silent next to it.
#include "health/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "health/check_test_support.h"

namespace stoker::health {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// An idle H100 or H200 as nvidia-smi -q and NVML showed it (driver 580.159.04), and its node.
const Told healthy = {
    {"sm_clock", 345},
    {"throttle_reasons", 1},
    {"memory_temperature", 38},
    {"temperature", 36},
    {"thermal_margin", 51},
    {"power", 76},
    {"power_limit", 700},
    {"power_violation", 0},
    {"thermal_violation", 0},
    {"board_limit_violation", 0},
    {"reliability_violation", 0},
    {"utilization", 0},
    {"memory_total", 85.5e9},
    {"memory_used", 0},
    {"ecc_corrected_volatile", 0},
    {"ecc_uncorrected_volatile", 0},
    {"ecc_corrected_aggregate", 0},
    {"ecc_uncorrected_aggregate", 0},
    {"remapped_rows_uncorrectable", 0},
    {"remapped_rows_correctable", 0},
    {"row_remap_failure", 0},
    {"row_remap_pending", 0},
    {"recovery_action", 0},
    {"pcie_replays", 1},
    {"pcie_generation", 5},
    {"pcie_width", 16},
    {"nvlink_links_up", 4},
    {"nvlink_state", 1},
    {"nvlink_replay_errors", 0},
    {"nvlink_recovery_errors", 0},
    {"nvlink_crc_errors", 0},
    {"fabric_state", 3},
    {"persistence_mode", 1},
    {"ecc_mode", 1},
    {"mig_mode", 0},
    {"shm_total", 100e9},
    {"shm_used", 0},
    {"data_disk_total", 100e9},
    {"data_disk_free", 50e9},
    {"cache_disk_total", 100e9},
    {"cache_disk_free", 50e9},
    {"memory_total_host", 1000e9},
    {"memory_available", 900e9},
};

// Names beside the field table's: "xid 48" is a tally, "processes" are as many, "link <field>" is of NVLink 0 alone,
// "others <field>" of the other GPUs.
void tell(TestNode& node, const Told& told, std::size_t gpu) {
  auto& one = node.snapshot.gpus.at(gpu);
  for (const auto& [name, value] : told) {
    if (name.starts_with("xid ")) {
      one.xids[static_cast<std::uint32_t>(std::stoi(name.substr(4)))].count =
          static_cast<std::uint64_t>(value);
    } else if (name == "processes") {
      one.processes.resize(static_cast<std::size_t>(value));
      one.process_outcome = Reading::of(value, {});
    } else if (name.starts_with("others ")) {
      for (std::size_t other = 1; other < 4; ++other) node.tell({{name.substr(7), value}}, other);
    } else if (name.starts_with("link ")) {
      node.tell_link(name.substr(5), 0, value, gpu);
    } else {
      node.tell({{name, value}}, gpu);
    }
  }
}

// Four cards with four links each, with the limits that an H100 tells.
TestNode node_of(const std::string& architecture) {
  TestNode node(4, 4);
  for (auto& gpu : node.snapshot.gpus) {
    gpu.info.architecture = architecture;
    gpu.info.slowdown_celsius = 89;
    gpu.info.shutdown_celsius = 95;
    gpu.info.max_operating_celsius = 87;
    gpu.info.max_memory_celsius = 95;
    gpu.info.power_limit_default_watts = 700;
    gpu.info.max_sm_clock_mhz = 1980;
    gpu.info.max_pcie_generation = 5;
    gpu.info.max_pcie_width = 16;
  }
  node.tell_all(healthy);
  for (std::size_t gpu = 0; gpu < 4; ++gpu) tell(node, {{"processes", 0}}, gpu);
  return node;
}

// Everything that fires within 75 minutes, one at a time, with GPU 0 as told after five of them, and the other
// GPUs as told under "others <field>".
std::vector<Finding> all_that_fires(const Told& told, const std::string& architecture = "hopper") {
  CheckEngine engine(built_in_checks());
  TestNode node = node_of(architecture);
  std::map<std::pair<std::string, Entity>, Finding> found;
  for (int minute = 0; minute < 75; ++minute) {
    if (minute == 5) {
      tell(node, told, 0);
    }
    for (Finding& finding : engine.evaluate(node.pass(Seconds(60)))) {
      if (finding.state != FindingState::firing) continue;
      found.insert_or_assign({finding.rule, finding.entity}, std::move(finding));
    }
  }
  std::vector<Finding> all;
  all.reserve(found.size());
  for (auto& [key, finding] : found) all.push_back(std::move(finding));
  return all;
}

std::set<std::string> rules_of(const std::vector<Finding>& findings) {
  std::set<std::string> rules;
  for (const Finding& finding : findings) rules.insert(finding.rule);
  return rules;
}

struct Row {
  std::string id;
  Told fires;
  Told silent;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      // Of jobs: tests/load_traces_test.cpp.
      {"job-hung", {}, {{"utilization", 100}}},
      {"job-waits-on-host", {}, {{"utilization", 100}}},
      {"job-suspect", {}, {{"utilization", 100}}},
      {"gpu-starved", {}, {{"utilization", 0}}},
      {"row-remap-failed", {{"row_remap_failure", 1}}, {{"row_remap_pending", 1}}},
      {"row-remap-pending", {{"row_remap_pending", 1}}, {{"row_remap_failure", 1}}},
      {"rows-remapped", {{"remapped_rows_uncorrectable", 1}}, {{"remapped_rows_correctable", 1}}},
      {"rows-remapped-limit",
       {{"remapped_rows_uncorrectable", 512}},
       {{"remapped_rows_uncorrectable", 511}}},
      {"retired-page-pending", {{"retired_pages_pending", 1}}, {{"retired_pages_pending", 0}}},
      {"retired-pages-limit",
       {{"retired_pages_sbe", 40}, {"retired_pages_dbe", 23}},
       {{"retired_pages_sbe", 40}, {"retired_pages_dbe", 22}}},
      {"ecc-uncorrected", {{"ecc_uncorrected_volatile", 1}}, {{"ecc_corrected_volatile", 1000}}},
      {"ecc-uncorrected-repeats",
       {{"ecc_uncorrected_aggregate", 3}},
       {{"ecc_uncorrected_aggregate", 2}}},
      {"ecc-progression",
       {{"ecc_uncorrected_volatile", 1}, {"ecc_corrected_volatile", 10}},
       {{"ecc_uncorrected_volatile", 1}, {"ecc_corrected_volatile", 9}}},
      {"ecc-corrected-rate", {{"ecc_corrected_volatile", 100}}, {{"ecc_corrected_volatile", 99}}},
      {"ecc-off", {{"ecc_mode", 0}}, {{"ecc_mode", 1}}},
      {"temperature-operating", {{"temperature", 87}}, {{"temperature", 86}}},
      {"temperature-slowdown", {{"temperature", 89}}, {{"temperature", 88}}},
      {"temperature-shutdown", {{"temperature", 93}}, {{"temperature", 92}}},
      {"thermal-margin", {{"thermal_margin", 0}}, {{"thermal_margin", 1}}},
      {"memory-temperature", {{"memory_temperature", 95}}, {{"memory_temperature", 94}}},
      {"hot-card",
       {{"temperature", 80},
        {"utilization", 99},
        {"others temperature", 60},
        {"others utilization", 99}},
       {{"temperature", 74},
        {"utilization", 99},
        {"others temperature", 60},
        {"others utilization", 99}}},
      {"hot-node",
       {{"temperature", 84}, {"others temperature", 86}},
       {{"temperature", 83}, {"others temperature", 86}}},
      {"temperature-unreadable", {}, {{"temperature", 36}}},
      {"throttle-hw-thermal", {{"throttle_reasons", 0x48}}, {{"throttle_reasons", 0x88}}},
      {"throttle-power-brake", {{"throttle_reasons", 0x88}}, {{"throttle_reasons", 0x48}}},
      {"throttle-hw-slowdown", {{"throttle_reasons", 0x8}}, {{"throttle_reasons", 0x48}}},
      {"throttle-sw-thermal", {{"throttle_reasons", 0x20}}, {{"throttle_reasons", 0x4}}},
      {"throttle-power-cap", {{"throttle_reasons", 0x4}}, {{"throttle_reasons", 0x2}}},
      {"throttle-sync-boost", {{"throttle_reasons", 0x10}}, {{"throttle_reasons", 0x1}}},
      {"lost-to-heat", {{"thermal_violation", 60e9}}, {{"thermal_violation", 5e9}}},
      {"lost-to-power", {{"power_violation", 100e9}}, {{"power_violation", 20e9}}},
      {"lost-to-board", {{"reliability_violation", 60e9}}, {{"board_limit_violation", 5e9}}},
      {"clocks-stuck",
       {{"utilization", 99}, {"throttle_reasons", 0}, {"sm_clock", 345}},
       {{"utilization", 99}, {"throttle_reasons", 2}, {"sm_clock", 345}}},
      {"power-limit-lowered", {{"power_limit", 500}}, {{"power_limit", 700}, {"power", 699}}},
      {"pcie-generation",
       {{"pcie_generation", 4}, {"utilization", 99}},
       {{"pcie_generation", 1}, {"utilization", 0}}},
      {"pcie-width", {{"pcie_width", 8}}, {{"pcie_width", 16}, {"pcie_generation", 1}}},
      {"pcie-replays", {{"pcie_replays", 10}}, {{"pcie_replays", 9}}},
      {"nvlink-down", {{"link nvlink_state", 0}}, {{"link nvlink_state", 1}}},
      {"nvlink-fewer", {{"nvlink_links_up", 3}}, {{"nvlink_links_up", 4}}},
      {"nvlink-recoveries",
       {{"link nvlink_recovery_errors", 1}},
       {{"link nvlink_replay_errors", 1}}},
      {"nvlink-replays", {{"link nvlink_replay_errors", 10}}, {{"link nvlink_replay_errors", 9}}},
      {"nvlink-crc", {{"link nvlink_crc_errors", 100'000}}, {{"link nvlink_crc_errors", 80'000}}},
      {"fabric-not-ready", {{"fabric_state", 2}}, {{"fabric_state", 0}}},
      {"inforom-corrupted", {{"inforom_valid", 0}}, {{"inforom_valid", 1}}},
      // Of one job alone: see tests/scenarios/checks/straggler.scenario.
      {"straggler",
       {},
       {{"sm_clock", 1300},
        {"utilization", 99},
        {"others sm_clock", 1980},
        {"others utilization", 99}}},
      {"xid-memory-repeats", {{"xid 48", 1}, {"xid 94", 2}}, {{"xid 48", 1}, {"xid 63", 2}}},
      {"xid-nvlink-repeats", {{"xid 74", 3}}, {{"xid 74", 2}}},
      {"xid-program-repeats", {{"xid 31", 10}}, {{"xid 43", 10}}},
      {"persistence-off", {{"persistence_mode", 0}}, {{"persistence_mode", 1}}},
      {"idle-while-held", {{"processes", 1}}, {{"processes", 1}, {"utilization", 1}}},
      {"shm-full", {{"shm_used", 95e9}}, {{"shm_used", 94e9}}},
      {"shm-small", {{"shm_total", 67'108'864}}, {{"shm_total", 8e9}}},
      {"data-disk-full", {{"data_disk_free", 4e9}}, {{"data_disk_free", 6e9}}},
      {"cache-disk-full", {{"cache_disk_free", 4e9}}, {{"cache_disk_free", 6e9}}},
      {"host-memory-low", {{"memory_available", 20e9}}, {{"memory_available", 40e9}}},
  };
  return all;
}

const Check& built_in(const std::string& id) {
  static const std::vector<Check> checks = built_in_checks();
  for (const Check& check : checks) {
    if (check.id == id) return check;
  }
  throw std::runtime_error("no check " + id);
}

TEST(BuiltInChecks, EachHasARowInThisTable) {
  std::set<std::string> tested;
  for (const Row& row : rows()) tested.insert(row.id);
  for (const Check& check : built_in_checks()) {
    if (check.kind == CheckKind::port) continue;  // port_checks_test.cpp
    EXPECT_EQ(tested.erase(check.id), 1U) << check.id;
  }
  EXPECT_THAT(tested, IsEmpty());
}

TEST(BuiltInChecks, EachFiresOnWhatItIsForAndIsSilentNextToIt) {
  for (const Row& row : rows()) {
    const auto& only = built_in(row.id).architectures;
    const std::string card = only.empty() ? "hopper" : only.back();
    EXPECT_EQ(rules_of(all_that_fires(row.silent, card)).count(row.id), 0U) << row.id;
    if (row.fires.empty()) continue;  // what is not read has a test of its own
    EXPECT_EQ(rules_of(all_that_fires(row.fires, card)).count(row.id), 1U) << row.id;
  }
}

TEST(BuiltInChecks, ATemperatureThatCannotBeReadIsTold) {
  CheckEngine engine(built_in_checks());
  TestNode node = node_of("hopper");
  node.untell("temperature", Reason::failed, 0);
  engine.evaluate(node.pass(Seconds(1)));
  EXPECT_THAT(rules_of(engine.evaluate(node.pass(Seconds(60)))),
              Contains("temperature-unreadable"));
}

TEST(BuiltInChecks, FindNothingOnAHealthyNodeIdleOrBusy) {
  EXPECT_THAT(all_that_fires({}), IsEmpty());
  EXPECT_THAT(all_that_fires({{"utilization", 99},
                              {"throttle_reasons", 0},
                              {"sm_clock", 1980},
                              {"temperature", 65},
                              {"power", 694},
                              {"processes", 1},
                              {"memory_used", 80e9},
                              {"others temperature", 65},
                              {"others utilization", 99}}),
              IsEmpty());
}

TEST(BuiltInChecks, SayWhoseRuleItIsAndWhyWhereANumberIsOurs) {
  for (const Check& check : built_in_checks()) {
    EXPECT_FALSE(check.source.empty()) << check.id;
    if (check.kind == CheckKind::port) continue;
    const bool ours = check.source.starts_with("docs/specs/") &&
                      (is_ordering(check.condition.is) && check.kind != CheckKind::absence);
    EXPECT_TRUE(!ours || !check.why.empty()) << check.id;
    EXPECT_FALSE(check.message.find('{') == std::string::npos) << check.id;
  }
}

// What handbooks say and is not so ---------------------------------------------------------------------

// "Replace a GPU that shows a double-bit error": it is reset, which remaps the row; NVIDIA's field diagnostic
// decides on a replacement.
TEST(Handbooks, NoCheckOrdersACardToBeReplaced) {
  for (const Check& check : built_in_checks()) EXPECT_NE(check.action, Action::replace) << check.id;
  EXPECT_EQ(built_in("ecc-uncorrected").action, Action::reset_gpu);
  EXPECT_EQ(built_in("row-remap-pending").action, Action::reset_gpu);
  EXPECT_EQ(built_in("row-remap-failed").action, Action::field_diag);
}

// "Many single-bit errors: schedule a replacement": ECC corrects them.
TEST(Handbooks, CorrectedErrorsAreInformation) {
  const auto found = all_that_fires({{"ecc_corrected_volatile", 100'000}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::info);
  EXPECT_EQ(found[0].action, Action::observe);
}

// "Alert at 83", "at 85 °C": a card's own limits count, and they differ.
TEST(Handbooks, A85DegreesWarmCardIsFineIfItsOwnLimitsSaySo) {
  EXPECT_THAT(all_that_fires({{"temperature", 85}, {"thermal_margin", 2}}), IsEmpty());
}

// "Memory above 90 % is an alert": servers take all of it when they start.
TEST(Handbooks, FullDeviceMemoryIsNoFault) {
  EXPECT_THAT(all_that_fires({{"memory_used", 85e9}, {"utilization", 60}, {"processes", 1}}),
              IsEmpty());
}

// "0 % utilisation is a hang", "100 % is work": neither is a fault by itself.
TEST(Handbooks, UtilisationAloneIsNoFault) {
  EXPECT_THAT(all_that_fires({{"utilization", 100}, {"throttle_reasons", 0}, {"sm_clock", 1980}}),
              IsEmpty());
  const auto found = all_that_fires({{"utilization", 0}, {"processes", 1}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::info);
}

// "A card at its power limit throttles": that is how heavy work looks.
TEST(Handbooks, ACardAtItsPowerLimitIsNoFault) {
  for (const Finding& finding :
       all_that_fires({{"power", 700}, {"throttle_reasons", 4}, {"power_violation", 300e9}})) {
    EXPECT_EQ(finding.severity, Severity::info) << finding.rule;
  }
}

}  // namespace
}  // namespace stoker::health
