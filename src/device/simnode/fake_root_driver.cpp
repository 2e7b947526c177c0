// Simulated node: /proc/driver/nvidia and /dev/nvidia*, as captured from driver 580.159.04 (open kernel
// module) on H100 and H200.
#include <fmt/format.h>

#include "device/simnode/fake_root.h"
#include "device/simnode/files.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

constexpr const char* power_text =
    "Runtime D3 status:          Disabled by default\n"
    "Video Memory:               Active\n"
    "\n"
    "GPU Hardware Support:\n"
    " Video Memory Self Refresh: Not Supported\n"
    " Video Memory Off:          Not Supported\n"
    "\n"
    "S0ix Power Management:\n"
    " Platform Support:          Not Supported\n"
    " Status:                    Disabled\n"
    "\n"
    "Notebook Dynamic Boost:     Not Supported\n";

// The module's parameters at their defaults; NvLinkDisable is 1 on the captured H100 without NVLink.
constexpr const char* params_text =
    "ResmanDebugLevel: 4294967295\nRmLogonRC: 1\nModifyDeviceFiles: 1\nDeviceFileUID: 0\n"
    "DeviceFileGID: 0\nDeviceFileMode: 438\nInitializeSystemMemoryAllocations: 1\n"
    "UsePageAttributeTable: 4294967295\nEnableMSI: 1\nEnablePCIeGen3: 0\nMemoryPoolSize: 0\n"
    "KMallocHeapMaxSize: 0\nVMallocHeapMaxSize: 0\nIgnoreMMIOCheck: 0\nEnableStreamMemOPs: 0\n"
    "EnableUserNUMAManagement: 1\nNvLinkDisable: {}\nRmProfilingAdminOnly: 0\n"
    "PreserveVideoMemoryAllocations: 0\nEnableS0ixPowerManagement: 0\n"
    "S0ixPowerManagementVideoMemoryThreshold: 256\nDynamicPowerManagement: 3\n"
    "DynamicPowerManagementVideoMemoryThreshold: 200\nRegisterPCIDriver: 1\n"
    "EnablePCIERelaxedOrderingMode: 0\nEnableResizableBar: 0\nEnableGpuFirmware: 18\n"
    "EnableGpuFirmwareLogs: 2\nRmNvlinkBandwidthLinkCount: 0\nEnableDbgBreakpoint: 0\n"
    "OpenRmEnableUnsupportedGpus: 1\nDmaRemapPeerMmio: 1\nImexChannelCount: 2048\n"
    "CreateImexChannel0: 0\nGrdmaPciTopoCheckOverride: 0\nCoherentGPUMemoryMode: \"\"\n"
    "RegistryDwords: \"\"\nRegistryDwordsPerDevice: \"\"\nRmMsg: \"\"\nGpuBlacklist: \"\"\n"
    "TemporaryFilePath: \"\"\nExcludedGpus: \"\"\n";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string information(const sim::Gpu& gpu, const PciAddress& pci) {
  const sim::Identity& identity = gpu.identity;
  const auto vbios = get(identity.vbios);
  const auto firmware = get(identity.gsp_firmware);
  return fmt::format(
      "Model: \t\t {}\nIRQ:   \t\t {}\nGPU UUID: \t {}\nVideo BIOS: \t {}\nBus Type: \t PCIe\n"
      "DMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\nBus Location: \t {}\n"
      "Device Minor: \t {}\nGPU Firmware: \t {}\nGPU Excluded:\t No\n",
      get(identity.name), gpu.pci.irq, get(identity.uuid),
      vbios.empty() ? "??.??.??.??.??" : lower(vbios), pci.sysfs(), identity.minor,
      firmware.empty() ? "N/A" : firmware);
}

std::string capability(unsigned minor, unsigned mode) {
  return fmt::format("DeviceFileMinor: {}\nDeviceFileMode: {}\nDeviceFileModify: 1\n", minor, mode);
}

Result<void> write_nodes(const Machine& machine, const std::string& root) {
  std::vector<std::string> nodes{"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                 "nvidia-caps/nvidia-cap1", "nvidia-caps/nvidia-cap2"};
  for (unsigned i = 0; i < machine.gpus.size(); ++i) nodes.push_back(fmt::format("nvidia{}", i));
  const std::string folder = root + "/dev/";
  for (const auto& node : nodes) {
    if (auto written = write_file(fmt::format("{}{}", folder, node), ""); !written) return written;
  }
  return {};
}

}  // namespace

std::string driver_folder(const PciAddress& pci) {
  return "/proc/driver/nvidia/gpus/" + pci.sysfs();
}

std::vector<KernelLine> load_lines(const std::string& driver_version) {
  return {
      {KernelLevel::info,
       "nvidia-nvlink: Nvlink Core is being initialized, major device number 240", std::nullopt},
      {KernelLevel::error,
       fmt::format(
           "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  ()  ",
           driver_version),
       std::nullopt}};
}

Result<void> write_driver(const Machine& machine, const sim::State& state,
                          const std::string& root) {
  const std::string folder = root + "/proc/driver/nvidia/";
  const bool no_links = machine.nvlink == NvLinkKind::none;
  std::vector<std::pair<std::string, std::string>> files{
      {"version",
       fmt::format(
           "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  ()  \n"
           "GCC version:  gcc version 15.3.0 (GCC) \n",
           machine.driver_version)},
      {"params", fmt::format(fmt::runtime(params_text), no_links ? 1 : 0)},
      {"registry", "Binary: \"\"\n"},
      {"suspend", "suspend hibernate resume\n"},
      {"suspend_depth", "default modeset uvm\n"},
      {"capabilities/mig/config", capability(1, 256)},
      {"capabilities/mig/monitor", capability(2, 292)},
      {"capabilities/fabric-imex-mgmt", capability(4323, 256)}};
  for (unsigned i = 0; i < machine.gpus.size(); ++i) {
    const PciAddress& pci = machine.gpus[i].pci;
    const std::string gpu = "gpus/" + pci.sysfs() + "/";
    files.emplace_back(gpu + "information", information(state.gpus[i], pci));
    files.emplace_back(gpu + "power", power_text);
    files.emplace_back(gpu + "registry", "Binary: \"\"\n");
  }
  for (const auto& [name, content] : files) {
    if (auto written = write_file(folder + name, content); !written) return written;
  }
  return write_nodes(machine, root);
}

}  // namespace stoker::simnode
