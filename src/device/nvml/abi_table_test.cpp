#include "device/nvml/abi_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "device/nvml/functions.h"

namespace stoker::nvml {
namespace {

const std::map<std::string_view, std::size_t>& declared_sizes() {
  static const std::map<std::string_view, std::size_t> sizes{
#define STOKER_SIZE(type) {#type, sizeof(abi::type)}
      STOKER_SIZE(AccountingStats),
      STOKER_SIZE(AddressingModeV1),
      STOKER_SIZE(Attributes),
      STOKER_SIZE(AttributesV1),
      STOKER_SIZE(Bar1Memory),
      STOKER_SIZE(BridgeChipHierarchy),
      STOKER_SIZE(C2cModeInfoV1),
      STOKER_SIZE(ClockMonitorStatus),
      STOKER_SIZE(ComputeInstanceInfo),
      STOKER_SIZE(ComputeInstanceInfoV1),
      STOKER_SIZE(ComputeInstanceProfileInfoV1),
      STOKER_SIZE(ComputeInstanceProfileInfoV2),
      STOKER_SIZE(ComputeInstanceProfileInfoV3),
      STOKER_SIZE(DynamicPstatesInfo),
      STOKER_SIZE(EccErrorCounts),
      STOKER_SIZE(EventData),
      STOKER_SIZE(FabricInfo),
      STOKER_SIZE(FabricInfoV2),
      STOKER_SIZE(FabricInfoV3),
      STOKER_SIZE(FanSpeedInfoV1),
      STOKER_SIZE(FieldValue),
      STOKER_SIZE(GpmMetricsGet),
      STOKER_SIZE(GpmMetricsGetOf<210>),
      STOKER_SIZE(GpmMetricsGetOf<98>),
      STOKER_SIZE(GpmSupport),
      STOKER_SIZE(GpuInstanceInfo),
      STOKER_SIZE(GpuInstanceProfileInfoV1),
      STOKER_SIZE(GpuInstanceProfileInfoV2),
      STOKER_SIZE(GpuInstanceProfileInfoV3),
      STOKER_SIZE(MarginTemperatureV1),
      STOKER_SIZE(Memory),
      STOKER_SIZE(MemoryV2),
      STOKER_SIZE(PciInfo),
      STOKER_SIZE(PciInfoExtV1),
      STOKER_SIZE(Placement),
      STOKER_SIZE(PlatformInfoV2),
      STOKER_SIZE(PowerValueV2),
      STOKER_SIZE(ProcessDetailListV1),
      STOKER_SIZE(ProcessDetailV1),
      STOKER_SIZE(ProcessInfoV1),
      STOKER_SIZE(ProcessInfoV2),
      STOKER_SIZE(ProcessUtilizationSample),
      STOKER_SIZE(ProcessesUtilizationInfoV1),
      STOKER_SIZE(RemappedRowsV2),
      STOKER_SIZE(RepairStatusV1),
      STOKER_SIZE(RowRemapperHistogram),
      STOKER_SIZE(Sample),
      STOKER_SIZE(SramEccErrorStatusV1),
      STOKER_SIZE(TemperatureV1),
      STOKER_SIZE(ThermalSettings),
      STOKER_SIZE(Utilization),
      STOKER_SIZE(ViolationTime),
#undef STOKER_SIZE
  };
  return sizes;
}

const abi::FunctionRow* function_row(std::string_view symbol) {
  for (const abi::FunctionRow& row : abi::function_rows()) {
    if (row.symbol == symbol) return &row;
  }
  return nullptr;
}

TEST(AbiTable, SizesAreThoseOfOurStructs) {
  for (const AbiRow& row : abi_table()) {
    if (row.structure == "PlatformInfoV1")
      continue;  // known, not declared: nothing of ours uses it
    const auto found = declared_sizes().find(row.structure);
    ASSERT_NE(found, declared_sizes().end()) << row.structure;
    EXPECT_EQ(found->second, row.size) << row.structure;
  }
}

TEST(AbiTable, RowsOfOneVersionOfASymbolDoNotOverlap) {
  for (const AbiRow& one : abi_table()) {
    EXPECT_LE(one.first, one.last) << one.symbol;
    EXPECT_FALSE(one.source.empty()) << one.symbol;
    for (const AbiRow& other : abi_table()) {
      if (&one == &other || one.symbol != other.symbol || one.version != other.version) continue;
      EXPECT_TRUE(one.last < other.first || other.last < one.first) << one.symbol;
    }
  }
}

TEST(AbiTable, RowsOfOneSymbolStandTogether) {
  std::map<std::string_view, std::size_t> last_seen;
  for (std::size_t i = 0; i < abi_table().size(); ++i) {
    const auto [at, is_new] = last_seen.try_emplace(abi_table()[i].symbol, i);
    if (!is_new) {
      EXPECT_EQ(at->second + 1, i) << at->first;
    }
    at->second = i;
  }
}

TEST(AbiTable, EveryRowIsOfAFunctionThatExistsByThen) {
  for (const AbiRow& row : abi_table()) {
    const abi::FunctionRow* const function = function_row(row.symbol);
    ASSERT_NE(function, nullptr) << row.symbol;
    EXPECT_GE(row.first.branch, function->since_driver) << row.symbol;
  }
}

TEST(AbiTable, TagsHoldSizeAndVersion) {
  for (const AbiRow& row : abi_table()) {
    const bool plain_number = row.symbol.starts_with("nvmlGpm");
    if (row.tag == 0 || plain_number) continue;
    EXPECT_EQ(row.tag, row.size | static_cast<std::uint32_t>(row.version) << 24U) << row.symbol;
  }
}

TEST(AbiTable, ProcessListV3ChangedItsStrideUnderOneName) {
  constexpr std::string_view symbol = "nvmlDeviceGetComputeRunningProcesses_v3";
  const auto stride = [&](DriverVersion driver) {
    const AbiRow* const row = row_for(symbol, driver);
    return row == nullptr ? 0U : row->size;
  };
  EXPECT_EQ(stride({495, 46}), 0U);
  EXPECT_EQ(stride({525, 60, 13}), 24U);
  EXPECT_EQ(stride({535, 43, 2}), 32U);
  EXPECT_EQ(stride({535, 86, 10}), 32U);
  EXPECT_EQ(stride({535, 98}), 0U);
  EXPECT_EQ(stride({535, 104, 5}), 24U);
  EXPECT_EQ(stride({550, 127, 8}), 16U);
  EXPECT_EQ(stride({580, 159, 4}), 24U);
}

TEST(AbiTable, TheNewestVersionWinsUnlessOneIsAskedFor) {
  constexpr std::string_view symbol = "nvmlDeviceGetGpuFabricInfoV";
  EXPECT_EQ(row_for(symbol, {535, 261, 3}), nullptr);
  EXPECT_EQ(row_for(symbol, {570, 86, 10})->structure, "FabricInfoV2");
  EXPECT_EQ(row_for(symbol, {580, 159, 4})->structure, "FabricInfoV3");
  EXPECT_EQ(row_for(symbol, 2, {580, 159, 4})->structure, "FabricInfoV2");
  EXPECT_EQ(row_for(symbol, 3, {570, 86, 10}), nullptr);
}

TEST(DriverVersion, IsReadFromWhatTheDriverSaysAndFromNothingElse) {
  EXPECT_EQ(parse_driver_version("580.159.04"), (DriverVersion{580, 159, 4}));
  EXPECT_EQ(parse_driver_version("535.98"), (DriverVersion{535, 98, 0}));
  for (const char* bad : {"", "580", "580.", "580.1.2.3", "580.1.", "a.b", "580.-1", " 580.1",
                          "580.1x", "99999999999.1"}) {
    EXPECT_EQ(parse_driver_version(bad), std::nullopt) << bad;
  }
}

TEST(HeaderBranch, IsKnownForEachHeaderWithRows) {
  EXPECT_EQ(branch_of_header("11.0"), 450);
  EXPECT_EQ(branch_of_header("12.8"), 570);
  EXPECT_EQ(branch_of_header("12.7"), std::nullopt);
}

}  // namespace
}  // namespace stoker::nvml
