// Device stage: one GPU that this process holds open, behind device::Gpu.
#pragma once

#include <memory>

#include "device/nvml/card.h"

namespace stoker::nvml {

// How opening one GPU went: the GPU, or the code of the call that failed.
struct OpenResult {
  std::unique_ptr<device::Gpu> gpu;
  abi::Return code = abi::Return::success;
  std::string what;  // the call that failed
};

// Reads what is fixed and registers for Xids. `session` outlives the GPU.
OpenResult open_gpu(Session& session, abi::Device device, std::uint32_t index,
                    const PciAddress& pci);

}  // namespace stoker::nvml
