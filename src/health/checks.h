// Health stage: which checks there are: those built in, changed and added to by the files of a folder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "health/check.h"
#include "model/finding.h"

namespace stoker::health {

// health/checks.yaml, in its order, then those about RDMA ports (health/port_checks.h).
std::vector<Check> built_in_checks();

struct CheckSet {
  std::vector<Check> checks;
  std::vector<Finding> findings;  // a warning for each file that was not taken
};

// `base` with the files *.yaml of `folder`, in the order of their names, each on top of those before. A file with a
// mistake changes nothing and becomes a finding. not_found or no_permission if there is no folder to list.
Result<CheckSet> read_overrides(const std::string& folder, std::vector<Check> base);

}  // namespace stoker::health
