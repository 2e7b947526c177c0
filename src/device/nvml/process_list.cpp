#include "device/nvml/process_list.h"

#include <algorithm>
#include <cstring>

#include "device/nvml/session.h"

namespace stoker::nvml {
namespace {

using List = ProcessStrides::List;

// Room for each entry whatever its stride: no known layout is longer than 40 bytes.
constexpr std::size_t longest_entry = 64;
constexpr std::array<std::size_t, 4> known_strides{16, 24, 32, 40};
// PID_MAX_LIMIT, include/linux/threads.h; simulated processes have pids just above it, which are nobody's.
constexpr std::uint32_t largest_pid = (1U << 22U) + 1024;

template <typename T>
T load(std::span<const std::uint8_t> from, std::size_t offset) {
  T value{};
  std::memcpy(&value, from.data() + offset, sizeof(value));
  return value;
}

// The members that all layouts share begin at the same offsets.
ListedProcess entry_at(std::span<const std::uint8_t> entry) {
  ListedProcess process;
  process.pid = load<std::uint32_t>(entry, offsetof(abi::ProcessInfoV1, pid));
  process.used_bytes = load<std::uint64_t>(entry, offsetof(abi::ProcessInfoV1, used_bytes));
  if (entry.size() >= sizeof(abi::ProcessInfoV2)) {
    process.gpu_instance =
        load<std::uint32_t>(entry, offsetof(abi::ProcessInfoV2, gpu_instance_id));
    process.compute_instance =
        load<std::uint32_t>(entry, offsetof(abi::ProcessInfoV2, compute_instance_id));
  }
  return process;
}

bool makes_sense(const ListedProcess& process) {
  return process.pid != 0 && process.pid <= largest_pid;
}

// One list of NVML under its three names.
struct ListCalls {
  List list;
  abi::Return (*v3)(abi::Device, unsigned*, void*);
  abi::Return (*v2)(abi::Device, unsigned*, abi::ProcessInfoV2*);
  abi::Return (*v1)(abi::Device, unsigned*, abi::ProcessInfoV1*);
};

struct Listing {
  Called called;
  std::vector<ListedProcess> processes;
  bool understood = true;
};

// Calls until the buffer is long enough; a list may grow between two calls.
template <typename Entry, typename Function>
Called call_list(const Clock& clock, Function function, abi::Device device,
                 std::vector<std::uint8_t>& buffer, unsigned& count, std::size_t entry_room) {
  unsigned room = 32;
  Called called;
  Nanoseconds took{0};
  for (int attempt = 0; attempt < 4; ++attempt) {
    buffer.assign(room * entry_room, unwritten);
    count = room;
    called = timed(clock, function, device, &count, reinterpret_cast<Entry*>(buffer.data()));
    took += called.took;
    if (called.code != abi::Return::insufficient_size) break;
    room = std::max(room * 2, count + 8);
  }
  called.took = took;
  if (called.ok() && count > room) called.code = abi::Return::unknown;
  return called;
}

template <typename Entry, typename Function>
Listing list_plain(const Clock& clock, Function function, abi::Device device) {
  Listing listing;
  std::vector<std::uint8_t> buffer;
  unsigned count = 0;
  listing.called = call_list<Entry>(clock, function, device, buffer, count, sizeof(Entry));
  for (unsigned i = 0; listing.called.ok() && i < count; ++i) {
    const std::span<const std::uint8_t> all(buffer);
    listing.processes.push_back(entry_at(all.subspan(i * sizeof(Entry), sizeof(Entry))));
    listing.understood = listing.understood && makes_sense(listing.processes.back());
  }
  return listing;
}

bool any_runs(const Session& session, const std::vector<ListedProcess>& processes) {
  return std::ranges::any_of(processes, [&](const ListedProcess& process) {
    return session.look_up_process(process.pid).presence != ProcessLook::Presence::absent;
  });
}

bool same_pids(const std::vector<ListedProcess>& one, const std::vector<ListedProcess>& other) {
  return std::ranges::equal(one, other, {}, &ListedProcess::pid, &ListedProcess::pid);
}

Listing list_v2_or_v1(const Session& session, const ListCalls& calls, abi::Device device) {
  Listing listing = list_plain<abi::ProcessInfoV2>(*session.clock, calls.v2, device);
  if (listing.called.code == abi::Return::function_not_found) {
    listing = list_plain<abi::ProcessInfoV1>(*session.clock, calls.v1, device);
  }
  return listing;
}

// _v3 where what it wrote can be understood and holds pids that run; else _v2; else not understood.
Listing list_one(Session& session, const ListCalls& calls, abi::Device device) {
  Listing listing;
  std::vector<std::uint8_t> buffer;
  unsigned count = 0;
  listing.called = call_list<void>(*session.clock, calls.v3, device, buffer, count, longest_entry);
  if (listing.called.code == abi::Return::function_not_found) {
    return list_v2_or_v1(session, calls, device);
  }
  if (!listing.called.ok() || count == 0) return listing;
  const auto entries = split_entries(buffer, count);
  listing.understood = entries.has_value();
  const std::size_t stride = derive_stride(buffer, count);
  if (entries.has_value()) {
    listing.processes = *entries;
    if (session.process_strides.confirmed(calls.list, stride)) return listing;
    if (any_runs(session, listing.processes)) {
      if (count > 1) session.process_strides.confirm(calls.list, stride);
      return listing;
    }
  }
  // Not understood, or none of the pids runs here (another pid namespace?): _v2 settles it.
  Listing second = list_v2_or_v1(session, calls, device);
  second.called.took += listing.called.took;
  if (!second.called.ok()) return listing;
  if (second.understood && same_pids(second.processes, listing.processes) && count > 1) {
    session.process_strides.confirm(calls.list, stride);
  }
  return second;
}

void add(const Session& session, const Listing& listing, bool compute,
         std::vector<device::ProcessInfo>& out) {
  for (const ListedProcess& process : listing.processes) {
    const bool known = std::ranges::any_of(out, [&](const device::ProcessInfo& other) {
      return other.pid == process.pid && other.gpu_instance == process.gpu_instance &&
             other.compute_instance == process.compute_instance;
    });
    if (known) continue;
    device::ProcessInfo info;
    info.pid = process.pid;
    info.compute = compute;
    info.memory_known = process.used_bytes != abi::value_not_available;
    info.memory_bytes = info.memory_known ? process.used_bytes : 0;
    info.gpu_instance = process.gpu_instance;
    info.compute_instance = process.compute_instance;
    info.name = session.look_up_process(process.pid).name;
    out.push_back(std::move(info));
  }
}

std::array<ListCalls, 3> calls_of(const abi::Functions& nvml) {
  return {
      {{List::compute, nvml.nvmlDeviceGetComputeRunningProcesses_v3,
        nvml.nvmlDeviceGetComputeRunningProcesses_v2, nvml.nvmlDeviceGetComputeRunningProcesses},
       {List::mps, nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3,
        nvml.nvmlDeviceGetMPSComputeRunningProcesses_v2,
        nvml.nvmlDeviceGetMPSComputeRunningProcesses},
       {List::graphics, nvml.nvmlDeviceGetGraphicsRunningProcesses_v3,
        nvml.nvmlDeviceGetGraphicsRunningProcesses_v2,
        nvml.nvmlDeviceGetGraphicsRunningProcesses}}};
}

}  // namespace

std::size_t derive_stride(std::span<const std::uint8_t> buffer, std::size_t count) {
  std::size_t extent = buffer.size();
  while (extent > 0 && buffer[extent - 1] == unwritten) --extent;
  if (count == 0 || extent % count != 0) return 0;
  const std::size_t stride = extent / count;
  return std::ranges::find(known_strides, stride) != known_strides.end() ? stride : 0;
}

std::optional<std::vector<ListedProcess>> split_entries(std::span<const std::uint8_t> buffer,
                                                        std::size_t count) {
  const std::size_t stride = derive_stride(buffer, count);
  if (stride == 0) return std::nullopt;
  std::vector<ListedProcess> processes;
  for (std::size_t i = 0; i < count; ++i) {
    processes.push_back(entry_at(buffer.subspan(i * stride, stride)));
    if (!makes_sense(processes.back())) return std::nullopt;
  }
  return processes;
}

Reading list_processes(Session& session, abi::Device device,
                       std::vector<device::ProcessInfo>& out) {
  std::vector<device::ProcessInfo> found;
  Called all{abi::Return::success, session.clock->monotonic(), Nanoseconds{0}};
  for (const ListCalls& calls : calls_of(session.nvml())) {
    const Listing listing = list_one(session, calls, device);
    all.took += listing.called.took;
    all.at = listing.called.at;
    if (listing.called.ok() && listing.understood) {
      add(session, listing, calls.list != List::graphics, found);
      continue;
    }
    // Compute processes are what a GPU is for: without them the list is not known. A card without
    // graphics or MPS has none of those.
    const Reason reason = listing.called.ok() ? Reason::invalid : reason_of(listing.called.code);
    if (calls.list == List::compute || reason != Reason::not_supported) return all.none(reason);
  }
  const auto count = static_cast<std::int64_t>(found.size());
  out.insert(out.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
  return all.value(count);
}

}  // namespace stoker::nvml
