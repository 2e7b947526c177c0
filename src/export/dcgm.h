// Export stage: the series of dcgm-exporter (docs/specs/metrics.md), from the field table.
#pragma once

#include "export/exposition.h"
#include "export/render.h"
#include "store/snapshot.h"

namespace stoker::exporting {

// Families in the order of their DCGM ids; a reading without a value has no line. A GPU with MIG
// devices is shown as dcgm-exporter's flexible mode shows it (device_monitoring.go,
// monitorAllGPUInstances): one line for each GPU instance, which has the card's value where the field
// is the card's, as DCGM gives it (DcgmCacheManager::SetPracticalEntityInfo).
void write_dcgm(Exposition& out, const store::Snapshot& snapshot, const RenderOptions& options);

}  // namespace stoker::exporting
