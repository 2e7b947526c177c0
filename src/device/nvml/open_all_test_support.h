// Device stage, tests: every GPU of a driver, opened one after the other.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "device/nvml/driver.h"

namespace stoker::nvml {

struct OpenedGpus {
  std::vector<std::unique_ptr<device::Gpu>> gpus;
  std::vector<UnopenedGpu> unopened;
};

inline OpenedGpus open_all(Driver& driver) {
  OpenedGpus opened;
  const auto places = driver.places();
  if (!places) {
    opened.unopened.push_back(places.error());
    return opened;
  }
  for (const GpuPlace& place : *places) {
    auto gpu = driver.open_gpu(place);
    if (gpu) {
      opened.gpus.push_back(std::move(*gpu));
    } else {
      opened.unopened.push_back(gpu.error());
    }
  }
  return opened;
}

}  // namespace stoker::nvml
