// Export stage: the stoker_gpu_test_* series: when the schedule for idle GPUs tested each one, when it will, what is in the way, and
// how the last run ended. None where there is no schedule.
#pragma once

#include <string>
#include <vector>

#include "export/exposition.h"
#include "store/snapshot.h"

namespace stoker::exporting {

// `labels`: of snapshot.gpus, in their order.
void write_tests(Exposition& out, const store::Snapshot& snapshot,
                 const std::vector<std::string>& labels);

}  // namespace stoker::exporting
