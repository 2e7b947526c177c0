#include "device/probe/gpu_board.h"

#include <algorithm>

namespace stoker::device::probe {

void GpuBoard::tell(const PciAddress& address, Gpu& gpu, GpuState state,
                    const std::string& detail) {
  if (gpu.told == state) return;
  gpu.told = state;
  told_.push_back({address, state, detail});
}

void GpuBoard::hung(const PciAddress& gpu, const std::string& detail) {
  tell(gpu, gpus_[gpu], GpuState::hung, detail);
}

void GpuBoard::lost(const PciAddress& gpu, const std::string& detail, MonotonicTime now) {
  Gpu& entry = gpus_[gpu];
  if (entry.told != GpuState::lost) {
    entry.lost_at = now;
    entry.look_at = now + timing_.lost_retry;
  }
  tell(gpu, entry, GpuState::lost, detail);
}

void GpuBoard::answers(const PciAddress& gpu, const std::string& detail) {
  Gpu& entry = gpus_[gpu];
  if (!entry.excluded) entry.delay = Nanoseconds{0};
  tell(gpu, entry, GpuState::present, detail);
}

void GpuBoard::exclude(const PciAddress& gpu, ProbeId holder, MonotonicTime now) {
  Gpu& entry = gpus_[gpu];
  entry.excluded = true;
  entry.holder = holder;
  if (entry.delay == Nanoseconds{0}) entry.delay = timing_.hung_retry_first;
  entry.look_at = now + entry.delay;
}

void GpuBoard::readmit(const PciAddress& gpu) { gpus_[gpu].excluded = false; }

void GpuBoard::postpone(const PciAddress& gpu) {
  Gpu& entry = gpus_[gpu];
  entry.look_at = entry.look_at + (timing_.hung_retry_most - entry.delay);
  entry.delay = timing_.hung_retry_most;
}

void GpuBoard::readmit_all(const std::set<ProbeId>& living) {
  for (auto& [address, gpu] : gpus_) {
    if (gpu.excluded && !living.contains(gpu.holder)) readmit(address);
  }
}

GpuState GpuBoard::state(const PciAddress& gpu) const {
  const auto found = gpus_.find(gpu);
  return found == gpus_.end() ? GpuState::present : found->second.told;
}

std::optional<PciAddress> GpuBoard::at_index(std::uint32_t index) const {
  for (const auto& [address, gpu] : gpus_) {
    if (gpu.index == index) return address;
  }
  return std::nullopt;
}

std::vector<PciAddress> GpuBoard::excluded() const {
  std::vector<PciAddress> all;
  for (const auto& [address, gpu] : gpus_) {
    if (gpu.excluded) all.push_back(address);
  }
  return all;
}

std::vector<PciAddress> GpuBoard::to_open() const {
  std::vector<PciAddress> all;
  for (const auto& [address, gpu] : gpus_) {
    if (!gpu.excluded) all.push_back(address);
  }
  return all;
}

// A tenth of the time that it has been away: what comes back soon is seen soon, and what is gone for
// good costs ever less.
std::vector<PciAddress> GpuBoard::take_due(MonotonicTime now, const std::set<ProbeId>& living) {
  std::vector<PciAddress> due;
  for (auto& [address, gpu] : gpus_) {
    if (gpu.excluded || gpu.told != GpuState::lost || now < gpu.look_at) continue;
    gpu.look_at =
        now + std::clamp((now - gpu.lost_at) / 10, timing_.lost_retry, timing_.lost_retry_most);
    due.push_back(address);
  }
  if (!due.empty()) return due;
  for (auto& [address, gpu] : gpus_) {
    if (!gpu.excluded || living.contains(gpu.holder) || now < gpu.look_at) continue;
    gpu.delay = std::min(gpu.delay * 2, timing_.hung_retry_most);
    gpu.look_at = now + gpu.delay;
    due.push_back(address);
  }
  return due;
}

std::vector<GpuTold> GpuBoard::take_told() { return std::exchange(told_, {}); }

}  // namespace stoker::device::probe
