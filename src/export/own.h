// Export stage: the stoker_* series, for what DCGM lacks: freshness, lost and hung GPUs, probes that
// would not die, what calls cost, Xid counts, findings, the node itself.
#pragma once

#include <vector>

#include "export/exposition.h"
#include "export/render.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::exporting {

void write_own(Exposition& out, const store::Snapshot& snapshot,
               const std::vector<Finding>& findings, const RenderOptions& options);

}  // namespace stoker::exporting
