// Simulated library: device memory of a GPU or of a MIG device, and the BAR1 window.
#include <algorithm>

#include "device/sim/library/gate.h"
#include "device/sim/library/memory_use.h"

namespace stoker::sim {
namespace {

// In v1 `used` takes in what the driver reserves: an idle H100 says 480 MiB used there, and smi -q
// says 480 MiB reserved and none used.
struct Split {
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  [[nodiscard]] std::uint64_t free() const { return total - reserved - used; }
};

Split split_of(const View& view) {
  Split split;
  if (view.place.is_mig()) {
    split.total = view.gpu.mig.profiles[view.instance().profile].memory_mib << 20U;
    split.used = std::min(used_by_processes(view.gpu, &view.instance()), split.total);
    return split;
  }
  const MemoryFacts& facts = view.gpu.memory;
  split.total = facts.total_bytes;
  split.reserved = std::min(facts.reserved_bytes, split.total);
  split.used = std::min(facts.idle_used_bytes + used_memory(view.gpu, view.activity()),
                        split.total - split.reserved);
  return split;
}

}  // namespace

std::uint64_t used_by_processes(const Gpu& gpu, const GpuInstance* instance) {
  std::uint64_t sum = 0;
  for (const Process& process : gpu.processes) {
    const bool counts = process.kind != ProcessKind::none &&
                        process.used_bytes != value_not_available &&
                        (instance == nullptr || process.gpu_instance == instance->id);
    if (counts) sum += process.used_bytes;
  }
  return sum;
}

std::uint64_t used_memory(const Gpu& gpu, const Activity& activity) {
  const bool has_processes = std::ranges::any_of(
      gpu.processes, [](const Process& process) { return process.kind != ProcessKind::none; });
  return has_processes ? used_by_processes(gpu, nullptr) : activity.load_memory_bytes;
}

extern "C" {

Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return on_gpu(
      fn(__func__), device, memory != nullptr,
      [&](const View& view) {
        const Split split = split_of(view);
        memory->total_bytes = split.total;
        memory->free_bytes = split.free();
        memory->used_bytes = split.used + split.reserved;
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  return on_gpu(
      fn(__func__), device, memory != nullptr,
      [&](const View& view) {
        if (memory->version != version_tag<MemoryV2>(2)) return Return::argument_version_mismatch;
        const Split split = split_of(view);
        memory->total_bytes = split.total;
        memory->reserved_bytes = split.reserved;
        memory->free_bytes = split.free();
        memory->used_bytes = split.used;
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetBAR1MemoryInfo(Device device, Bar1Memory* bar1_memory) {
  return on_gpu(
      fn(__func__), device, bar1_memory != nullptr,
      [&](const View& view) {
        const MemoryFacts& facts = view.gpu.memory;
        bar1_memory->total_bytes = facts.bar1_total_bytes;
        bar1_memory->used_bytes = facts.bar1_used_bytes;
        bar1_memory->free_bytes = facts.bar1_total_bytes - facts.bar1_used_bytes;
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetMemoryBusWidth(Device device, unsigned* bus_width) {
  return tell(fn(__func__), device, bus_width,
              [](const View& view) { return view.gpu.memory.bus_width_bits; });
}

}  // extern "C"
}  // namespace stoker::sim
