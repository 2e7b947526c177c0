// Analyzer stage: what is wrong with a cluster as a whole. Pure: facts and a time in, findings out.
#pragma once

#include <string>
#include <vector>

#include "lint/cluster/facts.h"
#include "lint/rule.h"

namespace stoker::lint {

// The rows of cluster/rules.def.
RuleTable cluster_rules();

// `name` is the cluster's, for findings that are about no object of it. Rules for which something was not seen to its end
// say nothing: who asks says what that was.
std::vector<Finding> lint_cluster(const ClusterFacts& facts, const std::string& name, WallTime now);

// Is the finding of a manifest's rule beside the point in this cluster: a selector where there is one kind of GPU, a
// toleration where no node has the taint?
bool is_beside_the_point(const ClusterFacts& facts, const Finding& finding);

}  // namespace stoker::lint
