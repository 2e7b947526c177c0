// What the tests of store, health and export build their snapshots from.
#pragma once

#include <string>

#include "store/store.h"

namespace stoker::store {

inline PciAddress pci_of(unsigned n) {
  return {.domain = 0, .bus = static_cast<std::uint8_t>(0x10 + n), .device = 0, .function = 0};
}

inline device::GpuInfo gpu_info(unsigned n) {
  device::GpuInfo info;
  info.index = n;
  info.pci = pci_of(n);
  info.uuid = "GPU-0000000" + std::to_string(n) + "-0000-0000-0000-000000000000";
  info.name = "NVIDIA H100 80GB HBM3";
  info.architecture = "hopper";
  return info;
}

inline std::vector<device::GpuInfo> gpu_infos(unsigned count) {
  std::vector<device::GpuInfo> all;
  for (unsigned n = 0; n < count; ++n) all.push_back(gpu_info(n));
  return all;
}

inline device::SourceStatus status_of(device::SourceState state) {
  device::SourceStatus status;
  status.state = state;
  return status;
}

inline device::TargetReading gpu_reading(FieldId field, Reading reading) {
  return {.target = {}, .field = field, .reading = reading};
}

// A store of `count` GPUs that run, at the clock's time.
class RunningStore {
 public:
  explicit RunningStore(unsigned count) : store(clock, {.hostname = "node1"}) {
    store.on_status(status_of(device::SourceState::running));
    store.on_driver({.driver_version = "580.159.04",
                     .nvml_version = "13.580.159.04",
                     .cuda_version = 13000,
                     .simulated = false,
                     .abi_notes = {}});
    store.on_inventory(gpu_infos(count));
  }

  void read(unsigned gpu, FieldId field, std::int64_t value) {
    store.on_readings(pci_of(gpu), {gpu_reading(field, Reading::of(value, clock.monotonic()))});
  }
  Reading get(unsigned gpu, FieldId field) const {
    return store.snapshot().gpus.at(gpu).readings.get(field);
  }

  ManualClock clock;
  Store store;
};

}  // namespace stoker::store
