#include "store/inventory.h"

#include <algorithm>

#include "store/bounds.h"
#include "store/store.h"

namespace stoker::store {
namespace {

constexpr auto by_pci = [](const GpuSnapshot& gpu, const PciAddress& pci) {
  return gpu.info.pci < pci;
};

bool lists(const std::vector<device::GpuInfo>& told, const PciAddress& pci) {
  return std::any_of(told.begin(), told.end(), [&](const auto& gpu) { return gpu.pci == pci; });
}

// The readings of MIG devices follow their UUID to its new place in the list.
void rekey_migs(GpuSnapshot& gpu, const std::vector<device::MigInfo>& after) {
  std::map<std::uint32_t, ReadingSet> moved;
  for (auto& [number, readings] : gpu.migs) {
    const auto at = std::find_if(after.begin(), after.end(), [&](const device::MigInfo& mig) {
      return mig.uuid == gpu.info.migs.at(number).uuid;
    });
    if (at == after.end()) continue;
    moved.emplace(static_cast<std::uint32_t>(at - after.begin()), std::move(readings));
  }
  gpu.migs = std::move(moved);
}

// Where `gpu` was known under another address that is not told any more, it keeps what was counted.
void follow_move(std::vector<GpuSnapshot>& gpus, const device::GpuInfo& gpu,
                 const std::vector<device::GpuInfo>& told) {
  const auto before = std::find_if(gpus.begin(), gpus.end(), [&](const GpuSnapshot& known) {
    return !gpu.uuid.empty() && known.info.uuid == gpu.uuid && known.info.pci != gpu.pci;
  });
  if (before == gpus.end() || lists(told, before->info.pci)) return;
  GpuSnapshot moved = std::move(*before);
  gpus.erase(before);
  moved.info.pci = gpu.pci;
  gpus.insert(std::lower_bound(gpus.begin(), gpus.end(), gpu.pci, by_pci), std::move(moved));
}

// A card with another UUID stands where `known` stood. One without a UUID was never opened: then
// this is the same card, told properly at last.
bool is_another_card(const GpuSnapshot& known, const device::GpuInfo& told) {
  return !known.info.uuid.empty() && known.info.uuid != told.uuid;
}

std::size_t take_gpu(std::vector<GpuSnapshot>& gpus, const device::GpuInfo& told,
                     const std::vector<device::GpuInfo>& all, MonotonicTime now) {
  device::GpuInfo info = told;
  const std::size_t cut = bound(info);
  GpuSnapshot* known = find_gpu(gpus, info.pci);
  if (known != nullptr && is_another_card(*known, info)) {
    gpus.erase(gpus.begin() + (known - gpus.data()));
    known = nullptr;
  }
  if (known == nullptr) {
    follow_move(gpus, info, all);
    known = find_gpu(gpus, info.pci);
  }
  if (known == nullptr) return cut + (add_gpu(gpus, info, now) == nullptr ? 1 : 0);
  rekey_migs(*known, info.migs);
  known->info = std::move(info);
  if (known->state == device::GpuState::lost) {
    known->state_detail.clear();
    set_state(*known, device::GpuState::present, now);
  }
  return cut;
}

}  // namespace

GpuSnapshot* find_gpu(std::vector<GpuSnapshot>& gpus, const PciAddress& pci) {
  const auto at = std::lower_bound(gpus.begin(), gpus.end(), pci, by_pci);
  return at != gpus.end() && at->info.pci == pci ? &*at : nullptr;
}

GpuSnapshot* add_gpu(std::vector<GpuSnapshot>& gpus, const device::GpuInfo& info,
                     MonotonicTime now) {
  if (gpus.size() >= StoreLimits::gpus) {
    // Lost ones come first, the longest lost before all.
    const auto out = std::min_element(gpus.begin(), gpus.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const GpuSnapshot& gpu) {
        return std::pair(gpu.state != device::GpuState::lost, gpu.state_since);
      };
      return rank(a) < rank(b);
    });
    if (out->state != device::GpuState::lost) return nullptr;
    gpus.erase(out);
  }
  GpuSnapshot gpu;
  gpu.info = info;
  gpu.state_since = now;
  const auto at = std::lower_bound(gpus.begin(), gpus.end(), info.pci, by_pci);
  return &*gpus.insert(at, std::move(gpu));
}

void clear_values(GpuSnapshot& gpu, Reason why, MonotonicTime now) {
  gpu.readings.mark_all(why, now);
  for (auto& [number, readings] : gpu.migs) readings.mark_all(why, now);
  for (auto& [number, readings] : gpu.nvlinks) readings.mark_all(why, now);
  gpu.process_outcome = Reading::none(why, now);
  gpu.processes.clear();
}

void set_state(GpuSnapshot& gpu, device::GpuState state, MonotonicTime now) {
  if (gpu.state == state) return;
  gpu.state = state;
  gpu.state_since = now;
  switch (state) {
    case device::GpuState::present: clear_values(gpu, Reason::pending, now); break;
    case device::GpuState::lost: clear_values(gpu, Reason::lost, now); break;
    case device::GpuState::hung: clear_values(gpu, Reason::hung, now); break;
  }
}

std::size_t take_inventory(std::vector<GpuSnapshot>& gpus, const std::vector<device::GpuInfo>& told,
                           MonotonicTime now) {
  for (GpuSnapshot& gpu : gpus) {
    if (gpu.state != device::GpuState::present || lists(told, gpu.info.pci)) continue;
    gpu.state_detail = "the driver does not list it any more";
    set_state(gpu, device::GpuState::lost, now);
  }
  std::size_t dropped = 0;
  for (const device::GpuInfo& gpu : told) dropped += take_gpu(gpus, gpu, told, now);
  return dropped;
}

}  // namespace stoker::store
