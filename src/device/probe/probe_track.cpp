#include "device/probe/probe_track.h"

#include <algorithm>
#include <utility>

namespace stoker::device::probe {

Stall ProbeTrack::stall(const Timing& timing, MonotonicTime now) const {
  Stall found;
  const auto consider = [&found, this](MonotonicTime since) {
    if (beat_at - since <= found.oldest) return;
    found.oldest = beat_at - since;
    found.since = since;
  };
  for (const auto& [gpu, call] : calls) {
    consider(call.since);
    if (beat_at - call.since >= timing.hung_after) found.hung.push_back(gpu);
  }
  for (const auto& [index, since] : nameless) consider(since);
  const std::size_t hanging = found.hung.size() + nameless_hung(timing).size();
  if (gpu_threads > 0 && hanging == gpu_threads) found.whole = true;
  if (init_since) {
    consider(*init_since);
    if (beat_at - *init_since >= timing.hung_after) found.whole = true;
  }
  // A thread that never calls the driver sends the heartbeats. Without them no thread runs, and
  // the calls under way are as old as the silence at least.
  if (now - heard >= timing.hung_after) {
    found.silent = found.whole = true;
    found.since = std::min(heard, found.oldest > Nanoseconds{0} ? found.since : heard);
    found.oldest = now - found.since;
  }
  return found;
}

std::vector<std::uint32_t> ProbeTrack::nameless_hung(const Timing& timing) const {
  std::vector<std::uint32_t> all;
  for (const auto& [index, since] : nameless) {
    if (beat_at - since >= timing.hung_after) all.push_back(index);
  }
  return all;
}

std::vector<PciAddress> ProbeTrack::to_blame(const Stall& stall) const {
  if (stall.hung.empty() || !stall.whole) return stall.hung;
  const auto earlier = [this](const PciAddress& one, const PciAddress& other) {
    return calls.at(one).since < calls.at(other).since;
  };
  return {*std::ranges::min_element(stall.hung, earlier)};
}

void ProbeTrack::take(const Heartbeat& beat, MonotonicTime now) {
  beat_at = now;
  stopped_since.reset();
  alive_at.reset();
  init_since.reset();
  events_since.reset();
  calls.clear();
  nameless.clear();
  gpu_threads = 0;
  for (const ThreadState& thread : beat.threads) {
    const bool of_gpu =
        thread.kind == ThreadState::Kind::gpu || thread.kind == ThreadState::Kind::opening;
    if (of_gpu) ++gpu_threads;
    if (!thread.since) continue;
    // The probe's clock is the agent's; taking the age keeps it right all the same.
    const MonotonicTime since = now + -(beat.at - *thread.since);
    switch (thread.kind) {
      case ThreadState::Kind::init: init_since = since; break;
      case ThreadState::Kind::events: events_since = since; break;
      case ThreadState::Kind::gpu: calls[thread.gpu] = {thread.getter, since}; break;
      case ThreadState::Kind::opening:
        if (const auto named = opening.find(thread.index);
            named != opening.end() && named->second) {
          calls[*named->second] = {thread.getter, since};
        } else {
          nameless[thread.index] = since;
        }
        break;
    }
  }
}

void ProbeTrack::take(const Inventory& inventory) {
  listed = true;
  std::set<PciAddress> now_open;
  opened_at.clear();
  for (const GpuInfo& gpu : inventory.gpus) {
    now_open.insert(gpu.pci);
    opened_at[gpu.pci] = gpu.index;
    if (!opened.contains(gpu.pci)) waiting.insert(gpu.pci);
  }
  opened = std::move(now_open);
  unopened = inventory.unopened;
  opening.clear();
  for (const Opening& gpu : inventory.opening) opening[gpu.index] = gpu.pci;
}

}  // namespace stoker::device::probe
