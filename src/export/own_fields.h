// Export stage: the stoker_* series that come from rows of the field table.
#pragma once

#include <string>
#include <vector>

#include "export/exposition.h"
#include "store/snapshot.h"

namespace stoker::exporting {

// One family a row of Series::own, of GPUs, MIG devices, NVLinks and the node. `labels` are
// all_gpu_labels(snapshot).
void write_own_fields(Exposition& out, const store::Snapshot& snapshot,
                      const std::vector<std::string>& labels);

// stoker_reading_missing{field,reason}: of how many GPUs, or of the node, a field has no value.
void write_missing(Exposition& out, const store::Snapshot& snapshot);

}  // namespace stoker::exporting
