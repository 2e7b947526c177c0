#include "device/probe/probe_track.h"

#include <algorithm>

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
  if (!opened.empty() && found.hung.size() == opened.size()) found.whole = true;
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

std::vector<PciAddress> ProbeTrack::to_blame(const Stall& stall) const {
  if (stall.hung.empty() || stall.hung.size() < opened.size()) return stall.hung;
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
  for (const ThreadState& thread : beat.threads) {
    if (!thread.since) continue;
    // The probe's clock is the agent's; taking the age keeps it right all the same.
    const MonotonicTime since = now + -(beat.at - *thread.since);
    switch (thread.kind) {
      case ThreadState::Kind::init: init_since = since; break;
      case ThreadState::Kind::events: events_since = since; break;
      case ThreadState::Kind::gpu: calls[thread.gpu] = {thread.getter, since}; break;
    }
  }
}

void ProbeTrack::take(const Inventory& inventory) {
  const bool first = !listed;
  listed = true;
  opened.clear();
  for (const GpuInfo& gpu : inventory.gpus) opened.insert(gpu.pci);
  if (first) waiting = opened;
  unopened = inventory.unopened;
}

}  // namespace stoker::device::probe
