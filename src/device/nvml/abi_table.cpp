// The rows. "nvml.h 12.4" is that header as NVIDIA/go-nvml keeps it at tag v0.12.4-0 (and so on for
// each toolkit). A header tells what a branch was meant to fill; where a driver did otherwise, the
// row says who saw it.
#include "device/nvml/abi_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace stoker::nvml {
namespace {

constexpr DriverVersion end_of(int branch) { return {branch, 999, 999}; }

// The three process lists have one history each for _v3, and the size in it never had a version:
// 24 bytes from its birth in 510, 32 in 535.43 to 535.86 (usedGpuCcProtectedMemory at the end),
// absent in 535.98, 24 again from 535.104 on, and 16 seen once. So no row is trusted alone: the
// reader fills the array with a sentinel, derives the stride, verifies pids, else calls _v2.
// clang-format off
#define STOKER_PROCESS_ROWS(name, first_v1, first_v2)                                              \
  AbiRow{name, "ProcessInfoV1", 1, 0, 16, {first_v1}, newest_driver,                               \
         "nvml.h 11.0; as v1 from 11.4 on"},                                                       \
  AbiRow{name "_v2", "ProcessInfoV2", 2, 0, 24, {first_v2}, newest_driver,                         \
         "nvml.h 11.1 (MPS: 11.4)"},                                                               \
  AbiRow{name "_v3", "ProcessInfoV2", 3, 0, 24, {510}, end_of(530), "nvml.h 11.6 to 12.1"},        \
  AbiRow{name "_v3", "ProcessDetailV1", 3, 0, 32, {535, 43, 0}, {535, 86, 999},                    \
         "nvidia-settings 535.43.02 src/nvml.h; XuehaiPan/nvitop#79"},                             \
  AbiRow{name "_v3", "ProcessInfoV2", 3, 0, 24, {535, 104, 0}, {550, 127, 7},                      \
         "nvml.h 12.2 (12.2.140) to 12.4; gone in 535.98: XuehaiPan/nvitop#89, #94"},              \
  AbiRow{name "_v3", "ProcessInfoV1", 3, 0, 16, {550, 127, 8}, {550, 127, 8},                      \
         "seen once, on Hopper in a container: XuehaiPan/nvitop#226"},                             \
  AbiRow{name "_v3", "ProcessInfoV2", 3, 0, 24, {550, 127, 9}, newest_driver, "nvml.h 12.4 to 13.3"}

constexpr auto abi_rows = std::to_array<AbiRow>({
  STOKER_PROCESS_ROWS("nvmlDeviceGetComputeRunningProcesses", 450, 455),
  STOKER_PROCESS_ROWS("nvmlDeviceGetGraphicsRunningProcesses", 450, 455),
  STOKER_PROCESS_ROWS("nvmlDeviceGetMPSComputeRunningProcesses", 470, 470),
  {"nvmlDeviceGetRunningProcessDetailList",
   "ProcessDetailListV1", 1, 0x1000018, 24, {535, 104, 0}, newest_driver, "nvml.h 12.2 (12.2.140)"},
  {"nvmlDeviceGetProcessUtilization",
   "ProcessUtilizationSample", 0, 0, 32, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetProcessesUtilizationInfo",
   "ProcessesUtilizationInfoV1", 1, 0x1000018, 24, {550}, newest_driver, "nvml.h 12.4"},
  {"nvmlDeviceGetAccountingStats",
   "AccountingStats", 0, 0, 56, {450}, newest_driver, "nvml.h 11.0"},

  {"nvmlDeviceGetPciInfo_v3", "PciInfo", 0, 0, 68, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetPciInfoExt",
   "PciInfoExtV1", 1, 0x1000040, 64, {550}, newest_driver, "nvml.h 12.4"},
  {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "PciInfo", 0, 0, 68, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetBridgeChipInfo",
   "BridgeChipHierarchy", 0, 0, 1028, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetPlatformInfo",
   "PlatformInfoV1", 1, 0x100002c, 44, {570}, newest_driver, "nvml.h 12.8"},
  {"nvmlDeviceGetPlatformInfo",
   "PlatformInfoV2", 2, 0x200002c, 44, {570}, newest_driver, "nvml.h 12.8"},
  {"nvmlDeviceGetC2cModeInfoV", "C2cModeInfoV1", 1, 0, 4, {545}, newest_driver, "nvml.h 12.3"},
  {"nvmlDeviceGetAddressingMode",
   "AddressingModeV1", 1, 0x1000008, 8, {580}, newest_driver, "nvml.h 13.0"},

  {"nvmlDeviceGetUtilizationRates", "Utilization", 0, 0, 8, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetMemoryInfo", "Memory", 1, 0, 24, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetMemoryInfo_v2", "MemoryV2", 2, 0x2000028, 40, {510}, newest_driver, "nvml.h 11.6"},
  {"nvmlDeviceGetBAR1MemoryInfo", "Bar1Memory", 0, 0, 24, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetTemperatureV",
   "TemperatureV1", 1, 0x100000c, 12, {570}, newest_driver, "nvml.h 12.8"},
  {"nvmlDeviceGetMarginTemperature",
   "MarginTemperatureV1", 1, 0x1000008, 8, {570}, newest_driver, "nvml.h 12.8"},
  {"nvmlDeviceGetThermalSettings",
   "ThermalSettings", 0, 0, 64, {515}, newest_driver, "nvml.h 11.7"},
  {"nvmlDeviceGetFanSpeedRPM",
   "FanSpeedInfoV1", 1, 0x100000c, 12, {570}, newest_driver, "nvml.h 12.8"},
  {"nvmlDeviceGetDynamicPstatesInfo",
   "DynamicPstatesInfo", 0, 0, 132, {515}, newest_driver, "nvml.h 11.7"},
  {"nvmlDeviceGetClkMonStatus",
   "ClockMonitorStatus", 0, 0, 264, {470}, newest_driver, "nvml.h 11.4"},
  {"nvmlDeviceSetPowerManagementLimit_v2",
   "PowerValueV2", 2, 0x200000c, 12, {535}, newest_driver, "nvml.h 12.2"},
  {"nvmlDeviceGetViolationStatus", "ViolationTime", 0, 0, 16, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetFieldValues", "FieldValue", 0, 0, 40, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetSamples", "Sample", 0, 0, 16, {450}, newest_driver, "nvml.h 11.0"},

  {"nvmlDeviceGetDetailedEccErrors",
   "EccErrorCounts", 0, 0, 32, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetSramEccErrorStatus",
   "SramEccErrorStatusV1", 1, 0x1000068, 104, {550}, newest_driver, "nvml.h 12.4"},
  {"nvmlDeviceGetRowRemapperHistogram",
   "RowRemapperHistogram", 0, 0, 20, {455}, newest_driver, "nvml.h 11.1"},
  {"nvmlDeviceGetRemappedRows_v2", "RemappedRowsV2", 2, 0, 24, {595}, newest_driver, "nvml.h 13.2"},
  {"nvmlDeviceGetRepairStatus",
   "RepairStatusV1", 1, 0x100000c, 12, {580}, newest_driver, "nvml.h 13.0"},

  {"nvmlDeviceGetGpuFabricInfo", "FabricInfo", 1, 0, 28, {525}, newest_driver, "nvml.h 12.0"},
  {"nvmlDeviceGetGpuFabricInfoV",
   "FabricInfoV2", 2, 0x2000024, 36, {550}, newest_driver, "nvml.h 12.4"},
  {"nvmlDeviceGetGpuFabricInfoV",
   "FabricInfoV3", 3, 0x3000028, 40, {580}, newest_driver, "nvml.h 13.0"},

  // 40 bytes in every header since 11.1, under either name; the old name was born with 24.
  {"nvmlDeviceGetAttributes", "AttributesV1", 1, 0, 24, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetAttributes_v2", "Attributes", 2, 0, 40, {455}, newest_driver, "nvml.h 11.1"},
  {"nvmlDeviceGetGpuInstanceProfileInfo",
   "GpuInstanceProfileInfoV1", 1, 0, 48, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlDeviceGetGpuInstanceProfileInfoV",
   "GpuInstanceProfileInfoV2", 2, 0x2000098, 152, {510}, newest_driver, "nvml.h 11.6"},
  {"nvmlDeviceGetGpuInstanceProfileInfoV",
   "GpuInstanceProfileInfoV3", 3, 0x3000098, 152, {545}, newest_driver, "nvml.h 12.3"},
  {"nvmlDeviceGetGpuInstancePossiblePlacements_v2",
   "Placement", 2, 0, 8, {470}, newest_driver, "nvml.h 11.4"},
  {"nvmlGpuInstanceGetInfo", "GpuInstanceInfo", 0, 0, 24, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlGpuInstanceGetComputeInstanceProfileInfo",
   "ComputeInstanceProfileInfoV1", 1, 0, 36, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlGpuInstanceGetComputeInstanceProfileInfoV",
   "ComputeInstanceProfileInfoV2", 2, 0x2000088, 136, {510}, newest_driver, "nvml.h 11.6"},
  {"nvmlGpuInstanceGetComputeInstanceProfileInfoV",
   "ComputeInstanceProfileInfoV3", 3, 0x300008c, 140, {545}, newest_driver, "nvml.h 12.3"},
  {"nvmlComputeInstanceGetInfo",
   "ComputeInstanceInfoV1", 1, 0, 24, {450}, newest_driver, "nvml.h 11.0"},
  {"nvmlComputeInstanceGetInfo_v2",
   "ComputeInstanceInfo", 2, 0, 32, {460}, newest_driver, "nvml.h 11.2"},

  // One version, three lengths: only the array behind the entries in use grew.
  {"nvmlGpmMetricsGet",
   "GpmMetricsGetOf<98>", 1, 1, 3944, {520}, end_of(570), "nvml.h 11.8 to 12.8"},
  {"nvmlGpmMetricsGet",
   "GpmMetricsGetOf<210>", 1, 1, 8424, {575}, end_of(590), "nvml.h 12.9 to 13.1"},
  {"nvmlGpmMetricsGet", "GpmMetricsGet", 1, 1, 13344, {595}, newest_driver, "nvml.h 13.2"},
  {"nvmlGpmQueryDeviceSupport", "GpmSupport", 1, 1, 8, {520}, newest_driver, "nvml.h 11.8"},
  {"nvmlEventSetWait_v2", "EventData", 2, 0, 32, {450}, newest_driver, "nvml.h 11.0"},
});
#undef STOKER_PROCESS_ROWS
// clang-format on

constexpr auto header_branches = std::to_array<std::pair<std::string_view, int>>({
    {"11.0", 450}, {"11.1", 455}, {"11.2", 460}, {"11.3", 465}, {"11.4", 470}, {"11.5", 495},
    {"11.6", 510}, {"11.7", 515}, {"11.8", 520}, {"12.0", 525}, {"12.1", 530}, {"12.2", 535},
    {"12.3", 545}, {"12.4", 550}, {"12.5", 555}, {"12.6", 560}, {"12.8", 570}, {"12.9", 575},
    {"13.0", 580}, {"13.1", 590}, {"13.2", 595},
});

bool holds(const AbiRow& row, std::string_view symbol, DriverVersion driver) {
  return row.symbol == symbol && row.first <= driver && driver <= row.last;
}

}  // namespace

std::optional<DriverVersion> parse_driver_version(std::string_view text) {
  std::array<int, 3> parts{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < parts.size()) {
    if (at == end || *at < '0' || *at > '9') return std::nullopt;
    const auto [after, error] = std::from_chars(at, end, parts[count++]);
    if (error != std::errc{}) return std::nullopt;
    at = after;
    if (at == end) break;
    if (*at++ != '.') return std::nullopt;
  }
  if (at != end || count < 2) return std::nullopt;
  return DriverVersion{parts[0], parts[1], parts[2]};
}

std::span<const AbiRow> abi_table() { return abi_rows; }

const AbiRow* row_for(std::string_view symbol, DriverVersion driver) {
  const AbiRow* best = nullptr;
  for (const AbiRow& row : abi_rows) {
    if (holds(row, symbol, driver) && (best == nullptr || row.version > best->version)) best = &row;
  }
  return best;
}

const AbiRow* row_for(std::string_view symbol, int version, DriverVersion driver) {
  const auto* const found = std::ranges::find_if(abi_rows, [&](const AbiRow& row) {
    return row.version == version && holds(row, symbol, driver);
  });
  return found == abi_rows.end() ? nullptr : found;
}

std::optional<int> branch_of_header(std::string_view header) {
  const auto* const found =
      std::ranges::find(header_branches, header, &std::pair<std::string_view, int>::first);
  if (found == header_branches.end()) return std::nullopt;
  return found->second;
}

}  // namespace stoker::nvml
