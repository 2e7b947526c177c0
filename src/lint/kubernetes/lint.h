// Analyzer stage: the linter of Kubernetes manifests. Pure: text in, findings out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/kubernetes/repair.h"
#include "model/finding.h"

namespace stoker::lint::kubernetes {

struct Manifest {
  std::vector<Repair> repairs;  // fixes.h makes edits of them
  std::vector<Finding> findings;
  std::size_t documents = 0;  // that were YAML
  std::size_t workloads = 0;  // with pods
  std::size_t ignored = 0;    // findings that an annotation wants ignored
};

// Looks at all documents of `text`, YAML or JSON, rendered or not; `file` is its name. A document that is broken is a
// finding, and the others are looked at all the same.
Manifest lint_manifest(std::string_view text, const std::string& file);

}  // namespace stoker::lint::kubernetes
