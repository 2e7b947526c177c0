#include "catalog/field.h"

#include <gtest/gtest.h>

#include <set>

#include "catalog/xid.h"

namespace stoker {
namespace {

// What the captures measured of each call, as a class (docs/measurements.md): a row that asks for a
// getter must not claim that its call is cheaper than it is.
constexpr bool may_cost(Getter getter, CostClass cost) {
  switch (getter) {
    case Getter::gpm: return cost != CostClass::cheap && cost != CostClass::fixed;
    case Getter::energy:
    case Getter::retired_pages:
    case Getter::inforom:
    case Getter::vgpu_license: return cost == CostClass::dear || cost == CostClass::fixed;
    case Getter::pcie_replay:
    case Getter::bar1_info:
    case Getter::ecc_mode:
    case Getter::mig_mode:
    case Getter::node_filesystem: return cost != CostClass::cheap;
    default: return cost != CostClass::gpm;
  }
}

TEST(FieldTable, NamesKeysAndMetricsAreUnique) {
  std::set<std::string> names;
  std::set<std::string> metrics;
  for (const Field& row : all_fields()) {
    for (const std::string& name : std::set<std::string>{std::string(row.name), row.key()}) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
    EXPECT_TRUE(metrics.insert(row.own_metric()).second) << row.own_metric();
  }
}

TEST(FieldTable, DcgmIdsNamesAndAliasesAreUniqueAndGoTogether) {
  std::set<int> ids;
  std::set<std::string_view> names;
  for (const Field& row : all_fields()) {
    EXPECT_EQ(row.dcgm_id == 0, row.dcgm_name.empty()) << row.name;
    if (row.dcgm_id == 0) {
      EXPECT_TRUE(row.dcgm_alias.empty()) << row.name;
      continue;
    }
    EXPECT_TRUE(ids.insert(row.dcgm_id).second) << row.dcgm_id;
    EXPECT_TRUE(names.insert(row.dcgm_name).second) << row.dcgm_name;
    EXPECT_TRUE(row.dcgm_name.starts_with("DCGM_FI_DEV_") ||
                row.dcgm_name.starts_with("DCGM_FI_PROF_"));
    EXPECT_TRUE(row.dcgm_alias.empty() || names.insert(row.dcgm_alias).second) << row.dcgm_alias;
  }
}

TEST(FieldTable, ARowIsOnOrOffOnlyIfDcgmKnowsIt) {
  for (const Field& row : all_fields()) {
    const bool own = row.series == Series::own || row.series == Series::hidden;
    EXPECT_TRUE(own || row.dcgm_id != 0) << row.name;
  }
}

TEST(FieldTable, NoRowClaimsToBeCheaperThanItsCall) {
  for (const Field& row : all_fields()) {
    EXPECT_TRUE(may_cost(row.getter, row.cost)) << row.name << " as " << to_string(row.cost);
  }
}

TEST(FieldTable, EveryPartOfAnAnswerIsAskedForOnce) {
  std::set<std::pair<Getter, std::uint32_t>> parts;
  for (const Field& row : all_fields()) {
    if (row.getter == Getter::derived) continue;
    EXPECT_TRUE(parts.emplace(row.getter, row.argument).second) << row.name;
  }
}

TEST(FieldTable, NodeRowsComeFromNodeGettersAndNoOthers) {
  const std::set<Getter> node = {Getter::node_cpu, Getter::node_memory, Getter::node_filesystem};
  for (const Field& row : all_fields()) {
    EXPECT_EQ(row.entity == EntityKind::node, node.contains(row.getter)) << row.name;
  }
}

TEST(FieldTable, EveryWordOfAGetterAndAClassIsItsOwn) {
  std::set<std::string_view> words;
  for (int n = 0; n < static_cast<int>(Getter::count_); ++n) {
    EXPECT_TRUE(words.insert(to_string(static_cast<Getter>(n))).second);
  }
  EXPECT_FALSE(words.contains("unknown"));
}

TEST(FieldTable, ARowIsFoundByAnyOfItsNames) {
  for (const char* name :
       {"power", "power_watts", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS"}) {
    EXPECT_EQ(find_field(name), FieldId::power) << name;
  }
  EXPECT_EQ(find_field(""), std::nullopt);
  EXPECT_EQ(find_field("DCGM_FI_DEV_NOTHING"), std::nullopt);
}

TEST(FieldTable, OwnMetricsAreInBaseUnits) {
  EXPECT_EQ(field(FieldId::cpu_busy).own_metric(), "stoker_node_cpu_busy_ratio");
  EXPECT_DOUBLE_EQ(field(FieldId::cpu_busy).own_scale(), 0.01);
  EXPECT_EQ(field(FieldId::nvlink_data_tx).own_metric(), "stoker_gpu_nvlink_data_tx_bytes_total");
  EXPECT_EQ(field(FieldId::thermal_margin).own_metric(), "stoker_gpu_thermal_margin_celsius");
  EXPECT_EQ(field(FieldId::nvlink_state).own_metric(), "stoker_nvlink_state");
}

TEST(FieldTable, DcgmsDoublesAreWattsAndRatios) {
  std::set<std::string_view> doubles;
  for (const Field& row : all_fields()) {
    if (row.dcgm_id != 0 && row.dcgm_double()) doubles.insert(row.dcgm_name);
  }
  // DCGM_FT_DOUBLE in dcgmlib/src/dcgm_fields.cpp at 72fa3fe.
  EXPECT_EQ(doubles, (std::set<std::string_view>{
                         "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT",
                         "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE",
                         "DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                         "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
                         "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "DCGM_FI_PROF_PIPE_FP16_ACTIVE"}));
}

TEST(XidNames, AreDcgmExportersWordsAtTheEnds) {
  EXPECT_EQ(xid_name(0), "No Error");
  EXPECT_EQ(xid_name(79), "GPU has fallen off the bus");
  EXPECT_EQ(xid_name(10'000), "Unknown Error");
}

}  // namespace
}  // namespace stoker
