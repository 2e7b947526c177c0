#include "device/simnode/names.h"

#include <fmt/format.h>

#include "device/sim/state_gpu.h"

namespace stoker::simnode {

// Version 4, variant 8, as the driver's own UUIDs; 51 for "SI".
std::string gpu_uuid(std::string_view machine, unsigned index) {
  return fmt::format("GPU-51000000-{:04x}-4000-8000-{:012x}", sim::name_hash(machine) & 0xFFFFU,
                     index + 1);
}

std::string gpu_serial(std::string_view machine, unsigned index) {
  return fmt::format("999{:06}{:04}", sim::name_hash(machine) % 1'000'000U, index + 1);
}

}  // namespace stoker::simnode
