// Composition: what `stoker lint --cluster` asks of a cluster, and what it found.
#pragma once

#include <string>

#include "base/result.h"
#include "lint_run.h"

namespace stoker::app {

struct ClusterQuestion {
  std::string kubeconfig;  // all may be empty
  std::string context;
  std::string name_space;
  std::string token_file;
};

// Lists what the rules are about and looks at it, page by page. What it may not see stands in `unread`, with the RBAC rule
// that would allow it. An error where nothing can be looked at.
Result<LintLook> look_at_cluster(const ClusterQuestion& question);

}  // namespace stoker::app
