// Simulated library: NVLinks and the fabric that they join.
#include <cstring>

#include "device/sim/library/gate.h"
#include "device/sim/library/pci_text.h"

namespace stoker::sim {
namespace {

// A link that the product has, or why it has none.
Return on_link(const Function& function, Device device, unsigned link, bool arguments_good,
               FunctionRef<Return(const LinkFacts&)> body) {
  return on_gpu(function, device, arguments_good, [&](const View& view) {
    if (view.gpu.link_count == 0) return Return::not_supported;
    if (link >= view.gpu.link_count) return Return::invalid_argument;
    const LinkFacts& facts = view.gpu.links[link];
    return facts.present == 0 ? Return::not_supported : body(facts);
  });
}

template <typename Out, typename Read>
Return tell_link(const Function& function, Device device, unsigned link, Out* out, Read read) {
  return on_link(function, device, link, out != nullptr, [&](const LinkFacts& facts) {
    *out = static_cast<Out>(read(facts));
    return Return::success;
  });
}

Return remote_pci(const Function& function, Device device, unsigned link, PciInfo* pci) {
  return on_link(function, device, link, pci != nullptr, [&](const LinkFacts& facts) {
    const BusAddress address{facts.remote_domain, facts.remote_bus, facts.remote_device};
    *pci = PciInfo{};
    pci->domain = facts.remote_domain;
    pci->bus = facts.remote_bus;
    pci->device = facts.remote_device;
    pci->device_id = facts.remote_device_id;
    write_bus_id(address, pci->bus_id);
    write_legacy_bus_id(address, pci->bus_id_legacy);
    return Return::success;
  });
}

void fill_fabric(const FabricFacts& facts, FabricInfoV2& out) {
  std::memcpy(out.cluster_uuid, facts.cluster_uuid, sizeof out.cluster_uuid);
  out.status = static_cast<nvml::abi::Return>(facts.status);
  out.clique_id = facts.clique_id;
  out.state = static_cast<FabricState>(facts.state);
  out.health_mask = facts.health_mask;
}

bool knows_fabric_v3(const View& view) {
  return nvml::row_for("nvmlDeviceGetGpuFabricInfoV", 3, version_of(view.state.driver)) != nullptr;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetNvLinkState(Device device, unsigned link, EnableState* is_active) {
  return tell_link(fn(__func__), device, link, is_active,
                   [](const LinkFacts& facts) { return facts.active; });
}

Return nvmlDeviceGetNvLinkVersion(Device device, unsigned link, unsigned* version) {
  return tell_link(fn(__func__), device, link, version,
                   [](const LinkFacts& facts) { return facts.version; });
}

Return nvmlDeviceGetNvLinkCapability(Device device, unsigned link, NvLinkCapability capability,
                                     unsigned* cap_result) {
  const auto bit = static_cast<unsigned>(capability);
  const bool known = capability <= NvLinkCapability::valid;
  return tell_link(fn(__func__), device, link, known ? cap_result : nullptr,
                   [&](const LinkFacts& facts) { return (facts.capabilities >> bit) & 1U; });
}

Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
  return remote_pci(fn(__func__), device, link, pci);
}
Return nvmlDeviceGetNvLinkRemotePciInfo(Device device, unsigned link, PciInfo* pci) {
  return remote_pci(fn(__func__), device, link, pci);
}

Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link,
                                           NvLinkRemoteType* nv_link_device_type) {
  return tell_link(fn(__func__), device, link, nv_link_device_type,
                   [](const LinkFacts& facts) { return facts.remote_type; });
}

Return nvmlDeviceGetNvLinkErrorCounter(Device device, unsigned link, NvLinkErrorCounter counter,
                                       std::uint64_t* counter_value) {
  const auto index = static_cast<std::size_t>(counter);
  const bool known = index < std::size(LinkFacts{}.errors);
  return tell_link(fn(__func__), device, link, known ? counter_value : nullptr,
                   [&](const LinkFacts& facts) { return facts.errors[index]; });
}

// Deprecated in nvml.h in favour of field values.
Return nvmlDeviceGetNvLinkUtilizationCounter(Device device, unsigned link, unsigned counter,
                                             std::uint64_t* rxcounter, std::uint64_t* txcounter) {
  const bool good = counter <= 1 && rxcounter != nullptr && txcounter != nullptr;
  return on_link(fn(__func__), device, link, good,
                 [](const LinkFacts&) { return Return::not_supported; });
}

Return nvmlDeviceGetGpuFabricInfo(Device device, FabricInfo* gpu_fabric_info) {
  return on_gpu(fn(__func__), device, gpu_fabric_info != nullptr, [&](const View& view) {
    FabricInfoV2 filled{};
    fill_fabric(view.gpu.fabric, filled);
    std::memcpy(gpu_fabric_info->cluster_uuid, filled.cluster_uuid, sizeof filled.cluster_uuid);
    gpu_fabric_info->status = filled.status;
    gpu_fabric_info->clique_id = filled.clique_id;
    gpu_fabric_info->state = filled.state;
    return Return::success;
  });
}

Return nvmlDeviceGetGpuFabricInfoV(Device device, void* gpu_fabric_info) {
  return on_gpu(fn(__func__), device, gpu_fabric_info != nullptr, [&](const View& view) {
    const FabricFacts& facts = view.gpu.fabric;
    const std::uint32_t version = *static_cast<const std::uint32_t*>(gpu_fabric_info);
    if (version == version_tag<FabricInfoV2>(2)) {
      fill_fabric(facts, *static_cast<FabricInfoV2*>(gpu_fabric_info));
      return Return::success;
    }
    if (version != version_tag<FabricInfoV3>(3) || !knows_fabric_v3(view)) {
      return Return::argument_version_mismatch;
    }
    // The older struct is the front part of the newer one.
    static_assert(offsetof(FabricInfoV3, health_mask) == offsetof(FabricInfoV2, health_mask));
    FabricInfoV2 front{};
    fill_fabric(facts, front);
    auto& out = *static_cast<FabricInfoV3*>(gpu_fabric_info);
    std::memcpy(out.cluster_uuid, front.cluster_uuid, sizeof out.cluster_uuid);
    out.status = front.status;
    out.clique_id = front.clique_id;
    out.state = front.state;
    out.health_mask = front.health_mask;
    out.health = static_cast<FabricHealth>(facts.health);
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
