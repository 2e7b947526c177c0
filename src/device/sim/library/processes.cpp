// Simulated library: who uses a GPU. The three lists differ by kind of process, their versions by
// the layout of an entry.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

// A MIG device tells its own processes only, a GPU all of them.
bool belongs(const Process& process, const View& view, ProcessKind kind) {
  if (process.kind != kind) return false;
  return !view.place.is_mig() || (process.gpu_instance == view.instance().id &&
                                  process.compute_instance == view.compute().id);
}

// Entries of `stride` bytes: as much of the longest layout as fits.
Return list(const Function& function, Device device, ProcessKind kind, unsigned* count, void* infos,
            std::uint32_t stride) {
  const unsigned room = count == nullptr ? 0 : *count;
  const bool good = count != nullptr && (room == 0 || infos != nullptr);
  return on_gpu(
      function, device, good,
      [&](const View& view) {
        unsigned size = 0;
        for (const Process& process : view.gpu.processes) {
          if (!belongs(process, view, kind)) continue;
          if (size < room) {
            const ProcessDetailV1 entry{process.pid, process.used_bytes, process.gpu_instance,
                                        process.compute_instance, 0};
            std::memcpy(static_cast<char*>(infos) + std::size_t{size} * stride, &entry,
                        std::min<std::size_t>(stride, sizeof entry));
          }
          ++size;
        }
        *count = size;
        return size > room ? Return::insufficient_size : Return::success;
      },
      Takes::gpu_or_mig);
}

// What _v3 fills has changed with drivers, under the same name: abi_table.cpp has the rows.
Return list_v3(const Function& function, Device device, ProcessKind kind, unsigned* count,
               void* infos) {
  std::uint32_t stride = sizeof(ProcessInfoV2);
  if (const auto session = current_session()) {
    stride = session->file.read([&](const State& state) {
      const auto* row =
          nvml::row_for(function_row_array[function.row].symbol, version_of(state.driver));
      return row == nullptr ? stride : row->size;
    });
  }
  return list(function, device, kind, count, infos, stride);
}

ProcessKind kind_of_mode(std::uint32_t mode) {
  switch (mode) {
    case 0: return ProcessKind::compute;
    case 1: return ProcessKind::graphics;
    case 2: return ProcessKind::mps;
    default: return ProcessKind::none;
  }
}

// One sample a second for each process; the GPU's share is split evenly among them.
struct Shares {
  std::uint64_t timestamp_us = 0;
  unsigned sm_percent = 0;
  unsigned memory_percent = 0;
};
Shares shares_of(const View& view) {
  unsigned running = 0;
  for (const Process& process : view.gpu.processes) running += process.kind != ProcessKind::none;
  const Activity now = view.activity();
  constexpr std::uint64_t period_us = 1'000'000;
  const double parts = std::max(1U, running);
  return {view.wall_us() / period_us * period_us,
          static_cast<unsigned>(std::lround(now.gpu_percent / parts)),
          static_cast<unsigned>(std::lround(now.memory_percent / parts))};
}

}  // namespace

extern "C" {

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* infos) {
  return list_v3(fn(__func__), device, ProcessKind::compute, count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, void* infos) {
  return list_v3(fn(__func__), device, ProcessKind::graphics, count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, unsigned* count, void* infos) {
  return list_v3(fn(__func__), device, ProcessKind::mps, count, infos);
}

Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count,
                                               ProcessInfoV2* infos) {
  return list(fn(__func__), device, ProcessKind::compute, count, infos, sizeof *infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count,
                                                ProcessInfoV2* infos) {
  return list(fn(__func__), device, ProcessKind::graphics, count, infos, sizeof *infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, unsigned* count,
                                                  ProcessInfoV2* infos) {
  return list(fn(__func__), device, ProcessKind::mps, count, infos, sizeof *infos);
}

Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, ProcessInfoV1* infos) {
  return list(fn(__func__), device, ProcessKind::compute, count, infos, sizeof *infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses(Device device, unsigned* count, ProcessInfoV1* infos) {
  return list(fn(__func__), device, ProcessKind::graphics, count, infos, sizeof *infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses(Device device, unsigned* count,
                                               ProcessInfoV1* infos) {
  return list(fn(__func__), device, ProcessKind::mps, count, infos, sizeof *infos);
}

Return nvmlDeviceGetRunningProcessDetailList(Device device, ProcessDetailListV1* plist) {
  const unsigned room = plist == nullptr ? 0 : plist->count;
  const bool good = plist != nullptr && (room == 0 || plist->entries != nullptr);
  ProcessDetailV1* entries = good ? plist->entries : nullptr;
  return on_gpu(
      fn(__func__), device, good,
      [&](const View& view) {
        if (plist->version != version_tag<ProcessDetailListV1>(1)) {
          return Return::argument_version_mismatch;
        }
        const ProcessKind kind = kind_of_mode(plist->mode);
        if (kind == ProcessKind::none) return Return::invalid_argument;
        unsigned size = 0;
        for (const Process& process : view.gpu.processes) {
          if (!belongs(process, view, kind)) continue;
          if (size < room) {
            entries[size] = {process.pid, process.used_bytes, process.gpu_instance,
                             process.compute_instance, 0};
          }
          ++size;
        }
        plist->count = size;
        return size > room ? Return::insufficient_size : Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetProcessUtilization(Device device, ProcessUtilizationSample* utilization,
                                       unsigned* process_samples_count,
                                       std::uint64_t last_seen_time_stamp) {
  // Without a buffer the caller asks for the room that it needs.
  unsigned no_room = 0;
  const bool ask_room = utilization == nullptr && process_samples_count != nullptr;
  ArrayOut<ProcessUtilizationSample> out(utilization, ask_room ? &no_room : process_samples_count);
  return on_gpu(fn(__func__), device, out.good(), [&](const View& view) {
    if (view.gpu.mig.mode != 0) return Return::not_supported;
    const Shares shares = shares_of(view);
    out.clear();
    for (const Process& process : view.gpu.processes) {
      if (process.kind == ProcessKind::none || shares.timestamp_us <= last_seen_time_stamp)
        continue;
      out.add({process.pid, shares.timestamp_us, shares.sm_percent, shares.memory_percent, 0, 0});
    }
    const Return filled = out.finish();
    if (ask_room) *process_samples_count = no_room;
    const unsigned found = *process_samples_count;
    return found == 0 ? Return::not_found : filled;
  });
}

Return nvmlDeviceGetProcessesUtilizationInfo(Device device,
                                             ProcessesUtilizationInfoV1* proceses_util_info) {
  ProcessesUtilizationInfoV1* list = proceses_util_info;
  const unsigned room = list == nullptr ? 0 : list->count;
  const bool good = list != nullptr && (room == 0 || list->entries != nullptr);
  return on_gpu(fn(__func__), device, good, [&](const View& view) {
    if (list->version != version_tag<ProcessesUtilizationInfoV1>(1)) {
      return Return::argument_version_mismatch;
    }
    if (view.gpu.mig.mode != 0) return Return::not_supported;
    const Shares shares = shares_of(view);
    unsigned size = 0;
    for (const Process& process : view.gpu.processes) {
      if (process.kind == ProcessKind::none || shares.timestamp_us <= list->last_seen_us) continue;
      if (size < room) {
        list->entries[size] = {
            shares.timestamp_us, process.pid, shares.sm_percent, shares.memory_percent, 0, 0, 0, 0};
      }
      ++size;
    }
    list->count = size;
    if (size == 0) return Return::not_found;
    return size > room ? Return::insufficient_size : Return::success;
  });
}

// Accounting keeps nothing here: an empty list, as on a card where nothing has run since it was on.
Return nvmlDeviceGetAccountingPids(Device device, unsigned* count, unsigned* pids) {
  ArrayOut<unsigned> out(pids, count);
  return on_gpu(fn(__func__), device, out.good(), [&](const View&) {
    out.clear();
    return out.finish();
  });
}

Return nvmlDeviceGetAccountingStats(Device device, unsigned /*pid*/, AccountingStats* stats) {
  return on_gpu(fn(__func__), device, stats != nullptr, [&](const View& view) {
    return view.gpu.modes.accounting == 0 ? Return::not_supported : Return::not_found;
  });
}

}  // extern "C"
}  // namespace stoker::sim
