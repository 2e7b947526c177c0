// Analyzer stage: repairs that are exact: only lines that were found wrong are touched, and what is added follows from
// what the manifest says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/kubernetes/lint.h"
#include "lint/patch.h"

namespace stoker::lint::kubernetes {

// The repairs of those findings of `manifest`, which lint_manifest() made of `text`, that are still in it:
//   gpu-requests-only   the same number under limits, where the resources are in block style
//   shm-unbounded       a sizeLimit of half of the container's memory limit, which is what a tmpfs of Linux has of the
//                       memory by itself; only where there is a limit
// Templates are left alone.
std::vector<LineEdit> repairs_of(std::string_view text, const Manifest& manifest);

}  // namespace stoker::lint::kubernetes
