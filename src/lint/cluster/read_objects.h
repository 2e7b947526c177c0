// Analyzer stage: nodes and pods of the Kubernetes API, as facts. Private to cluster.
#pragma once

#include "catalog/yaml/view.h"
#include "lint/cluster/facts.h"

namespace stoker::lint {

// core/v1 Node and Pod (https://kubernetes.io/docs/reference/kubernetes-api/). What is missing stays empty.
NodeFacts read_node(yaml::View node);
PodFacts read_pod(yaml::View pod);

}  // namespace stoker::lint
