// Simulated library: where a GPU sits, and what lies between two of them.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

constexpr std::size_t cpu_words = std::size(Identity{}.cpu_affinity);
using CpuSet = std::array<std::uint64_t, cpu_words>;

CpuSet cpus_of_this_machine() {
  CpuSet all{};
  const long count = ::sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < count && cpu < static_cast<long>(cpu_words * 64); ++cpu) {
    all[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  return all;
}

// A driver names CPUs that the machine has, and slurmd drops a GPU for any other. So the simulated
// machine's CPUs count as far as this one has them; where that leaves none, it is all of this one's.
CpuSet affinity_of(const Gpu& gpu) {
  const CpuSet here = cpus_of_this_machine();
  CpuSet both{};
  bool none = true;
  for (std::size_t word = 0; word < cpu_words; ++word) {
    both[word] = gpu.identity.cpu_affinity[word] & here[word];
    none = none && both[word] == 0;
  }
  return none ? here : both;
}

// Copies the bits of a set into the caller's words; words beyond the set are 0.
template <typename Set>
void copy_set(const Set& set, unsigned long* out, unsigned size) {
  for (unsigned word = 0; word < size; ++word) out[word] = word < std::size(set) ? set[word] : 0;
}

Return cpu_affinity(const Function& function, Device device, unsigned size, unsigned long* set) {
  return on_gpu(function, device, size > 0 && set != nullptr, [&](const View& view) {
    copy_set(affinity_of(view.gpu), set, size);
    return Return::success;
  });
}

bool known(AffinityScope scope) {
  return scope == AffinityScope::node || scope == AffinityScope::socket;
}

std::uint32_t level_between(const State& state, std::uint32_t one, std::uint32_t other) {
  return one == other ? 0 : state.gpus[one].topology_level[other];
}

}  // namespace

extern "C" {

Return nvmlDeviceGetCpuAffinity(Device device, unsigned cpu_set_size, unsigned long* cpu_set) {
  return cpu_affinity(fn(__func__), device, cpu_set_size, cpu_set);
}

Return nvmlDeviceGetCpuAffinityWithinScope(Device device, unsigned cpu_set_size,
                                           unsigned long* cpu_set, AffinityScope scope) {
  return cpu_affinity(fn(__func__), device, known(scope) ? cpu_set_size : 0, cpu_set);
}

Return nvmlDeviceGetMemoryAffinity(Device device, unsigned node_set_size, unsigned long* node_set,
                                   AffinityScope scope) {
  const bool good = node_set_size > 0 && node_set != nullptr && known(scope);
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    copy_set(view.gpu.identity.memory_affinity, node_set, node_set_size);
    return Return::success;
  });
}

Return nvmlDeviceGetNumaNodeId(Device device, unsigned* node) {
  return on_gpu(fn(__func__), device, node != nullptr, [&](const View& view) {
    if (view.gpu.identity.numa_node < 0) return Return::not_supported;
    *node = static_cast<unsigned>(view.gpu.identity.numa_node);
    return Return::success;
  });
}

Return nvmlDeviceGetTopologyCommonAncestor(Device device1, Device device2,
                                           TopologyLevel* path_info) {
  const auto other = place_of(device2);
  return tell(fn(__func__), device1, other ? path_info : nullptr, [&](const View& view) {
    return level_between(view.state, view.place.gpu, other->gpu);
  });
}

Return nvmlDeviceGetTopologyNearestGpus(Device device, TopologyLevel level, unsigned* count,
                                        Device* device_array) {
  ArrayOut<Device> out(device_array, count);
  return on_gpu(fn(__func__), device, out.good(), [&](const View& view) {
    out.clear();
    for (const std::uint32_t row : view.session.rows) {
      const bool at_level =
          level_between(view.state, view.place.gpu, row) == static_cast<std::uint32_t>(level);
      if (row != view.place.gpu && at_level) out.add(device_handle(row));
    }
    return out.finish();
  });
}

Return nvmlSystemGetTopologyGpuSet(unsigned cpu_number, unsigned* count, Device* device_array) {
  ArrayOut<Device> out(device_array, count);
  return on_system(fn(__func__), out.good(), [&](const SystemView& view) {
    out.clear();
    for (const std::uint32_t row : view.session.rows) {
      const CpuSet set = affinity_of(view.state.gpus[row]);
      const std::size_t word = cpu_number / 64;
      if (word < cpu_words && ((set[word] >> (cpu_number % 64)) & 1U) != 0) {
        out.add(device_handle(row));
      }
    }
    return out.finish();
  });
}

Return nvmlDeviceGetP2PStatus(Device device1, Device device2, P2pCapability p2p_index,
                              P2pStatus* p2p_status) {
  const auto other = place_of(device2);
  const auto index = static_cast<std::uint32_t>(p2p_index);
  const bool good = other.has_value() && index < 5;
  return tell(fn(__func__), device1, good ? p2p_status : nullptr,
              [&](const View& view) { return view.gpu.p2p_status[index][other->gpu]; });
}

}  // extern "C"
}  // namespace stoker::sim
