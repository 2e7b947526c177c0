// Export stage: how the stoker_* series name their entities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/snapshot.h"

namespace stoker::exporting {

// gpu="0",UUID="GPU-...", as DCGM's series spell it, so that the two can be joined. A GPU that could
// never be opened has no UUID: it is named by pci_bus_id beside.
std::string gpu_labels(const store::GpuSnapshot& gpu);
// The same, one for each of snapshot.gpus.
std::vector<std::string> all_gpu_labels(const store::Snapshot& snapshot);
// Of one of its MIG devices; `gpu` is gpu_labels() of its card.
std::string mig_labels(const std::string& gpu, const device::MigInfo& mig);
// `labels` and one more.
std::string with(const std::string& labels, std::string_view name, std::string_view value);

}  // namespace stoker::exporting
