// Store stage: which GPUs are known, and what happens to them when a new inventory comes. Plain
// functions on the list that the Store guards.
#pragma once

#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "store/snapshot.h"

namespace stoker::store {

// `gpus` is sorted by PCI address. nullptr: not known.
GpuSnapshot* find_gpu(std::vector<GpuSnapshot>& gpus, const PciAddress& pci);

// Adds a GPU that is not known; where the list is full, the one that has been lost longest makes
// room. nullptr: no room. Other pointers into `gpus` end here.
GpuSnapshot* add_gpu(std::vector<GpuSnapshot>& gpus, const device::GpuInfo& info,
                     MonotonicTime now);

// Takes every value away, of the parts and the processes too.
void clear_values(GpuSnapshot& gpu, Reason why, MonotonicTime now);

// Lost and hung GPUs have no values; one that is present again has none yet.
void set_state(GpuSnapshot& gpu, device::GpuState state, MonotonicTime now);

// Follows a new list of what is there (StoreOptions' rules). A card with another UUID at a known
// address is another card; one known UUID at a new address has moved and keeps its counts. Returns
// how many things had to be dropped.
std::size_t take_inventory(std::vector<GpuSnapshot>& gpus, const std::vector<device::GpuInfo>& told,
                           MonotonicTime now);

}  // namespace stoker::store
