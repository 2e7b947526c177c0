// Analyzer stage: annotations by which the owner of an object wants findings left out.
#pragma once

#include <vector>

#include "lint/kubernetes/workload.h"
#include "model/finding.h"

namespace stoker::lint::kubernetes {

// Takes those of the findings from `first` on out, all of them about `workload`, that its annotations or those of one of
// its pod templates name: stoker.dev/lint-ignore ("rule, rule" or "all"), and kube-linter's
// ignore-check.kube-linter.io/<check> and kube-linter.io/ignore-all, by kube_linter.def. How many they were.
std::size_t take_out_annotated(const Workload& workload, std::size_t first,
                               std::vector<Finding>& findings);

}  // namespace stoker::lint::kubernetes
