// Simulated library: what a GPU is, from name to firmware.
#include <cstdio>
#include <string>

#include "device/sim/library/gate.h"
#include "device/sim/library/mig_places.h"
#include "device/sim/library/pci_text.h"

namespace stoker::sim {
namespace {

std::string name_of(const View& view) {
  std::string name(text_of(view.gpu.identity.name));
  if (!view.place.is_mig()) return name;
  const ComputeProfile& profile = profile_of(view.gpu, view.instance(), view.compute());
  return name + " MIG " + std::string(text_of(profile.name));
}

Return pci_info(const Function& function, Device device, PciInfo* pci) {
  return on_gpu(function, device, pci != nullptr, [&](const View& view) {
    const PciFacts& facts = view.gpu.pci;
    const BusAddress address{facts.domain, facts.bus, facts.device};
    *pci = PciInfo{};
    pci->domain = facts.domain;
    pci->bus = facts.bus;
    pci->device = facts.device;
    pci->device_id = facts.device_id;
    pci->subsystem_id = facts.subsystem_id;
    write_bus_id(address, pci->bus_id);
    write_legacy_bus_id(address, pci->bus_id_legacy);
    return Return::success;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetName(Device device, char* name, unsigned length) {
  return on_gpu(
      fn(__func__), device, name != nullptr,
      [&](const View& view) { return copy_text(name_of(view), name, length); }, Takes::gpu_or_mig);
}

Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  return on_gpu(
      fn(__func__), device, uuid != nullptr,
      [&](const View& view) {
        return copy_text(
            view.place.is_mig() ? text_of(view.compute().uuid) : text_of(view.gpu.identity.uuid),
            uuid, length);
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetSerial(Device device, char* serial, unsigned length) {
  return tell_text(fn(__func__), device, serial, length,
                   [](const View& view) { return text_of(view.gpu.identity.serial); });
}

Return nvmlDeviceGetBoardPartNumber(Device device, char* part_number, unsigned length) {
  return tell_text(fn(__func__), device, part_number, length,
                   [](const View& view) { return text_of(view.gpu.identity.part_number); });
}

Return nvmlDeviceGetVbiosVersion(Device device, char* version, unsigned length) {
  return tell_text(fn(__func__), device, version, length,
                   [](const View& view) { return text_of(view.gpu.identity.vbios); });
}

Return nvmlDeviceGetInforomImageVersion(Device device, char* version, unsigned length) {
  return tell_text(fn(__func__), device, version, length,
                   [](const View& view) { return text_of(view.gpu.identity.inforom_image); });
}

Return nvmlDeviceGetInforomVersion(Device device, InforomObject object, char* version,
                                   unsigned length) {
  const auto index = static_cast<std::uint32_t>(object);
  if (index > static_cast<std::uint32_t>(InforomObject::den)) {
    return on_gpu(fn(__func__), device, false, [](const View&) { return Return::success; });
  }
  return tell_text(fn(__func__), device, version, length, [&](const View& view) {
    return text_of(view.gpu.identity.inforom_object[index]);
  });
}

Return nvmlDeviceGetInforomConfigurationChecksum(Device device, unsigned* checksum) {
  return tell(fn(__func__), device, checksum,
              [](const View& view) { return view.gpu.identity.inforom_checksum; });
}

// A call's return code can be set (`stoker sim inject`), which is how an InfoROM is corrupted here.
Return nvmlDeviceValidateInforom(Device device) {
  return on_gpu(fn(__func__), device, true, [](const View&) { return Return::success; });
}

Return nvmlDeviceGetGspFirmwareVersion(Device device, char* version) {
  return tell_text(fn(__func__), device, version, gsp_firmware_version_size,
                   [](const View& view) { return text_of(view.gpu.identity.gsp_firmware); });
}

Return nvmlDeviceGetGspFirmwareMode(Device device, unsigned* is_enabled, unsigned* default_mode) {
  return tell_two(fn(__func__), device, is_enabled, default_mode, [](const View& view) {
    return std::pair(view.gpu.identity.gsp_enabled, view.gpu.identity.gsp_default);
  });
}

Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return pci_info(fn(__func__), device, pci);
}
Return nvmlDeviceGetPciInfo_v2(Device device, PciInfo* pci) {
  return pci_info(fn(__func__), device, pci);
}
Return nvmlDeviceGetPciInfo(Device device, PciInfo* pci) {
  return pci_info(fn(__func__), device, pci);
}

Return nvmlDeviceGetPciInfoExt(Device device, PciInfoExtV1* pci) {
  return on_gpu(fn(__func__), device, pci != nullptr, [&](const View& view) {
    if (pci->version != version_tag<PciInfoExtV1>(1)) return Return::argument_version_mismatch;
    const PciFacts& facts = view.gpu.pci;
    pci->domain = facts.domain;
    pci->bus = facts.bus;
    pci->device = facts.device;
    pci->device_id = facts.device_id;
    pci->subsystem_id = facts.subsystem_id;
    pci->base_class = facts.base_class;
    pci->sub_class = facts.sub_class;
    write_bus_id({facts.domain, facts.bus, facts.device}, pci->bus_id);
    return Return::success;
  });
}

Return nvmlDeviceGetBrand(Device device, Brand* type) {
  return tell(fn(__func__), device, type, [](const View& view) { return view.gpu.identity.brand; });
}

Return nvmlDeviceGetArchitecture(Device device, Architecture* arch) {
  return tell(fn(__func__), device, arch,
              [](const View& view) { return view.gpu.identity.architecture; });
}

Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return on_gpu(
      fn(__func__), device, major != nullptr && minor != nullptr,
      [&](const View& view) {
        *major = view.gpu.identity.compute_major;
        *minor = view.gpu.identity.compute_minor;
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetNumGpuCores(Device device, unsigned* num_cores) {
  return on_gpu(fn(__func__), device, num_cores != nullptr, [&](const View& view) {
    if (view.gpu.mig.mode != 0) return Return::not_supported;  // nvml.h says so
    *num_cores = view.gpu.identity.cores;
    return Return::success;
  });
}

Return nvmlDeviceGetBoardId(Device device, unsigned* board_id) {
  return tell(fn(__func__), device, board_id,
              [](const View& view) { return view.gpu.identity.board_id; });
}

Return nvmlDeviceGetMultiGpuBoard(Device device, unsigned* multi_gpu_bool) {
  return tell(fn(__func__), device, multi_gpu_bool,
              [](const View& view) { return view.gpu.identity.multi_gpu_board; });
}

Return nvmlDeviceOnSameBoard(Device device1, Device device2, int* on_same_board) {
  const auto other = place_of(device2);
  return tell(fn(__func__), device1, other ? on_same_board : nullptr,
              [&](const View& view) { return other->gpu == view.place.gpu; });
}

Return nvmlDeviceGetModuleId(Device device, unsigned* module_id) {
  return tell(fn(__func__), device, module_id,
              [](const View& view) { return view.gpu.identity.module_id; });
}

Return nvmlDeviceGetBusType(Device device, BusType* type) {
  return tell(fn(__func__), device, type,
              [](const View& view) { return view.gpu.identity.bus_type; });
}

Return nvmlDeviceGetIrqNum(Device device, unsigned* irq_num) {
  return tell(fn(__func__), device, irq_num, [](const View& view) { return view.gpu.pci.irq; });
}

Return nvmlDeviceGetPowerSource(Device device, PowerSource* power_source) {
  return tell(fn(__func__), device, power_source,
              [](const View& view) { return view.gpu.identity.power_source; });
}

Return nvmlDeviceGetVirtualizationMode(Device device, VirtualizationMode* virtual_mode) {
  return tell(fn(__func__), device, virtual_mode,
              [](const View& view) { return view.gpu.identity.virtualization_mode; });
}

Return nvmlDeviceGetC2cModeInfoV(Device device, C2cModeInfoV1* c2c_mode_info) {
  return tell(fn(__func__), device, c2c_mode_info == nullptr ? nullptr : &c2c_mode_info->enabled,
              [](const View& view) { return view.gpu.identity.c2c_enabled; });
}

Return nvmlDeviceGetAddressingMode(Device device, AddressingModeV1* mode) {
  return on_gpu(fn(__func__), device, mode != nullptr, [&](const View& view) {
    if (mode->version != version_tag<AddressingModeV1>(1)) return Return::argument_version_mismatch;
    mode->mode = view.gpu.identity.addressing_mode;
    return Return::success;
  });
}

// Not modelled: no product of the simulator has them.
Return nvmlDeviceGetBridgeChipInfo(Device device, BridgeChipHierarchy* bridge_hierarchy) {
  return not_supported(fn(__func__), device, bridge_hierarchy != nullptr);
}
Return nvmlDeviceGetPlatformInfo(Device device, PlatformInfoV2* platform_info) {
  return not_supported(fn(__func__), device, platform_info != nullptr);
}

}  // extern "C"
}  // namespace stoker::sim
