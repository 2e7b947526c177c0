#include "device/sim/library/mig_places.h"

namespace stoker::sim {

std::vector<Place> mig_devices(const Gpu& gpu, std::uint32_t row) {
  std::vector<Place> devices;
  if (gpu.mig.mode == 0) return devices;
  for (std::uint32_t instance = 0; instance < max_gpu_instances; ++instance) {
    if (gpu.mig.instances[instance].used == 0) continue;
    for (std::uint32_t compute = 0; compute < max_compute_instances; ++compute) {
      if (gpu.mig.instances[instance].compute[compute].used != 0) {
        devices.push_back({row, instance, compute});
      }
    }
  }
  return devices;
}

std::uint32_t mig_index(const Gpu& gpu, const Place& place) {
  std::uint32_t index = 0;
  for (const Place& other : mig_devices(gpu, place.gpu)) {
    if (other.instance == place.instance && other.compute == place.compute) break;
    ++index;
  }
  return index;
}

}  // namespace stoker::sim
