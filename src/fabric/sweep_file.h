// Fabric analyzer: a sweep as a file, written by one run and read by another (docs/specs/fabric.md). What is read may be
// anybody's: bounds are checked, and what is wrong is said.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fabric/sweep.h"

namespace stoker::fabric {

// {"schema":"stoker.dev/v1/fabric-sweep","nodes":[...]}
std::string write_sweep(const Sweep& sweep);
// corrupt, with what is wrong and where.
Result<Sweep> read_sweep(std::string_view text);

}  // namespace stoker::fabric
