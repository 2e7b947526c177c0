// Simulated node: changes that are no faults.
#pragma once

#include <string>

#include "device/simnode/change.h"
#include "device/simnode/loads.h"

namespace stoker::simnode {

// Of the change's GPUs; request.gpu "all" heals the driver too.
Result<std::string> apply_clear(Change& change);
// request.name is a word of load_names().
Result<std::string> apply_load(Change& change);

}  // namespace stoker::simnode
