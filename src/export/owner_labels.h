// Export stage: whose a device is, as labels of DCGM's series and as series of its own
// (docs/specs/metrics.md, "Whose it is").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/exposition.h"
#include "store/device_owners.h"
#include "store/snapshot.h"

namespace stoker::exporting {

// Where it is told whose a device is.
enum class OwnerSeries : std::uint8_t {
  inline_labels,  // on the series of a device with one owner; and as `info`
  per_owner,      // a line for each owner of a device; and as `info`
  info,           // in stoker_gpu_owner_info alone
  off,
};

// How dcgm-exporter spells them: `pod`, or `pod_name` with its --use-old-namespace.
enum class PodLabels : std::uint8_t { pod, pod_name };

// As append_label makes them, sorted by name as dcgm-exporter prints a series' attributes. Those of
// a series' own (err_code, err_msg) belong between the two.
struct OwnerLabels {
  std::string before_err;
  std::string after_err;
};

// Of one owner: dcgm-exporter's names.
OwnerLabels owner_labels(const store::DeviceOwner& owner, const device::MigInfo* mig,
                         PodLabels spelling);

// What the lines of one device end with: at least one, empty where nothing is told.
std::vector<OwnerLabels> line_owners(const store::Snapshot& snapshot, const store::GpuSnapshot& gpu,
                                     const device::MigInfo* mig, OwnerSeries how,
                                     PodLabels spelling);

// stoker_gpu_owner_info and stoker_attribution_state. `labels` are all_gpu_labels(snapshot).
void write_owners(Exposition& out, const store::Snapshot& snapshot,
                  const std::vector<std::string>& labels);

}  // namespace stoker::exporting
