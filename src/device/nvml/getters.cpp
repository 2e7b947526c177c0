#include "device/nvml/getters.h"

#include <array>

#include "device/nvml/scalar_getters.h"

namespace stoker::nvml {
namespace {

using abi::Functions;

// A card that is no vGPU needs no licence and holds none: 0, as DCGM tells it. What a vGPU guest
// holds, only nvmlDeviceGetGridLicensableFeatures knows, which isn't declared here.
void read_vgpu_license(Card& card, const Fields& fields, Readings& out) {
  abi::VirtualizationMode mode{};
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetVirtualizationMode, card.device, &mode);
  for (const Field* field : fields) {
    Reading reading = called.none();
    if (called.ok()) {
      reading = mode == abi::VirtualizationMode::vgpu ? called.none(Reason::no_source)
                                                      : called.value(std::int64_t{0});
    }
    put(out, *field, reading);
  }
}

// clang-format off
constexpr auto getter_table = std::to_array<GetterRow>({
    {Getter::clock_info, "nvmlDeviceGetClockInfo", read_clocks},
    {Getter::throttle_reasons,
     "nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons",
     read_throttle_reasons},
    {Getter::field_value, "nvmlDeviceGetFieldValues", read_field_values},
    {Getter::temperature, "nvmlDeviceGetTemperature", read_temperature},
    {Getter::thermal_margin, "nvmlDeviceGetMarginTemperature", read_thermal_margin},
    {Getter::power_usage, "nvmlDeviceGetPowerUsage",
     read_thousandths<&Functions::nvmlDeviceGetPowerUsage>},
    {Getter::enforced_power_limit, "nvmlDeviceGetEnforcedPowerLimit",
     read_thousandths<&Functions::nvmlDeviceGetEnforcedPowerLimit>},
    {Getter::energy, "nvmlDeviceGetTotalEnergyConsumption",
     read_thousandths<&Functions::nvmlDeviceGetTotalEnergyConsumption>},
    {Getter::performance_state, "nvmlDeviceGetPerformanceState", read_performance_state},
    {Getter::fan_speed, "nvmlDeviceGetFanSpeed", read_whole<&Functions::nvmlDeviceGetFanSpeed>},
    {Getter::utilization_rates, "nvmlDeviceGetUtilizationRates", read_utilization},
    {Getter::encoder_utilization, "nvmlDeviceGetEncoderUtilization", read_encoder},
    {Getter::decoder_utilization, "nvmlDeviceGetDecoderUtilization", read_decoder},
    {Getter::gpm, "nvmlGpmSampleGet nvmlGpmMigSampleGet nvmlGpmMetricsGet", read_gpm},
    {Getter::memory_info, "nvmlDeviceGetMemoryInfo_v2 nvmlDeviceGetMemoryInfo", read_memory},
    {Getter::bar1_info, "nvmlDeviceGetBAR1MemoryInfo", read_bar1},
    {Getter::xid_event, "nvmlEventSetWait_v2", read_xid},
    {Getter::ecc_total, "nvmlDeviceGetTotalEccErrors", read_ecc},
    {Getter::retired_pages, "nvmlDeviceGetRetiredPages nvmlDeviceGetRetiredPagesPendingStatus",
     read_retired_pages},
    {Getter::remapped_rows, "nvmlDeviceGetRemappedRows", read_remapped_rows},
    {Getter::inforom, "nvmlDeviceValidateInforom", read_inforom},
    {Getter::pcie_replay, "nvmlDeviceGetPcieReplayCounter",
     read_whole<&Functions::nvmlDeviceGetPcieReplayCounter>},
    {Getter::pcie_link, "nvmlDeviceGetCurrPcieLinkGeneration nvmlDeviceGetCurrPcieLinkWidth",
     read_pcie_link},
    {Getter::nvlink_state, "nvmlDeviceGetNvLinkState", read_nvlink_state},
    {Getter::nvlink_errors, "nvmlDeviceGetFieldValues nvmlDeviceGetNvLinkErrorCounter",
     read_nvlink_errors},
    {Getter::fabric_info, "nvmlDeviceGetGpuFabricInfoV nvmlDeviceGetGpuFabricInfo", read_fabric},
    {Getter::persistence_mode, "nvmlDeviceGetPersistenceMode",
     read_whole<&Functions::nvmlDeviceGetPersistenceMode>},
    {Getter::compute_mode, "nvmlDeviceGetComputeMode",
     read_whole<&Functions::nvmlDeviceGetComputeMode>},
    {Getter::ecc_mode, "nvmlDeviceGetEccMode",
     read_current_mode<&Functions::nvmlDeviceGetEccMode, abi::EnableState>},
    {Getter::mig_mode, "nvmlDeviceGetMigMode",
     read_current_mode<&Functions::nvmlDeviceGetMigMode, unsigned>},
    {Getter::vgpu_license, "nvmlDeviceGetVirtualizationMode", read_vgpu_license},
});
// clang-format on

}  // namespace

std::span<const GetterRow> getter_rows() { return getter_table; }

const GetterRow* find_getter(Getter getter) {
  for (const GetterRow& row : getter_table) {
    if (row.getter == getter) return &row;
  }
  return nullptr;
}

}  // namespace stoker::nvml
