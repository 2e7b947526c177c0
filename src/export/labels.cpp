#include "export/labels.h"

#include <fmt/format.h>

#include "export/exposition.h"

namespace stoker::exporting {

std::string gpu_labels(const store::GpuSnapshot& gpu) {
  std::string labels;
  const bool known = !gpu.info.uuid.empty();
  append_label(labels, "gpu", known ? fmt::format_int(gpu.info.index).c_str() : "");
  append_label(labels, "UUID", gpu.info.uuid);
  if (!known) append_label(labels, "pci_bus_id", gpu.info.pci.nvml());
  return labels;
}

std::vector<std::string> all_gpu_labels(const store::Snapshot& snapshot) {
  std::vector<std::string> all;
  all.reserve(snapshot.gpus.size());
  for (const store::GpuSnapshot& gpu : snapshot.gpus) all.push_back(gpu_labels(gpu));
  return all;
}

std::string mig_labels(const std::string& gpu, const device::MigInfo& mig) {
  std::string labels = gpu;
  append_label(labels, "GPU_I_PROFILE", mig.profile);
  append_label(labels, "GPU_I_ID", fmt::format_int(mig.gpu_instance).c_str());
  append_label(labels, "mig_uuid", mig.uuid);
  return labels;
}

std::string with(const std::string& labels, std::string_view name, std::string_view value) {
  std::string more = labels;
  append_label(more, name, value);
  return more;
}

}  // namespace stoker::exporting
