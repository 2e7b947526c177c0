#include "export/text_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stoker::exporting {
namespace {

using device::GpuInfo;
using store::Snapshot;

// A card that was never opened has no number of its own.
std::string number_of(const GpuInfo& gpu, std::uint32_t number) {
  return gpu.uuid.empty() ? std::string() : fmt::format_int(number).str();
}

std::string cuda_version(const Snapshot& snapshot) {
  const bool known = snapshot.driver && snapshot.driver->cuda_version > 0;
  return known ? fmt::format_int(snapshot.driver->cuda_version).str() : std::string();
}

// Ids: dcgmlib/dcgm_fields.h of DCGM 72fa3fe.
constexpr auto rows = std::to_array<TextField>({
    {1, false,
     [](const Snapshot& all, const GpuInfo&) {
       return all.driver ? all.driver->driver_version : std::string();
     }},
    {2, false,
     [](const Snapshot& all, const GpuInfo&) {
       return all.driver ? all.driver->nvml_version : std::string();
     }},
    {5, true, [](const Snapshot& all, const GpuInfo&) { return cuda_version(all); }},
    {50, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.name; }},
    {51, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.brand; }},
    {52, true, [](const Snapshot&, const GpuInfo& gpu) { return number_of(gpu, gpu.index); }},
    {53, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.serial; }},
    {54, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.uuid; }},
    {55, true, [](const Snapshot&, const GpuInfo& gpu) { return number_of(gpu, gpu.minor); }},
    {57, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.pci.nvml(); }},
    {82, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.inforom; }},
    {85, false, [](const Snapshot&, const GpuInfo& gpu) { return gpu.vbios; }},
});

}  // namespace

const TextField* text_field(int dcgm_id) {
  const auto* found = std::find_if(
      rows.begin(), rows.end(), [dcgm_id](const TextField& row) { return row.dcgm_id == dcgm_id; });
  return found == rows.end() ? nullptr : found;
}

}  // namespace stoker::exporting
