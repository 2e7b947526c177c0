#include "api/gpu_name.h"

#include <string>

namespace stoker::api {

bool is_named(const device::GpuInfo& gpu, std::string_view text) {
  if (!gpu.uuid.empty() && (gpu.uuid == text || std::to_string(gpu.index) == text)) return true;
  const auto pci = PciAddress::parse(text);
  return pci && gpu.pci == *pci;
}

}  // namespace stoker::api
