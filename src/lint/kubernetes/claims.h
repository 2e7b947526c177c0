// Analyzer stage: GPUs by dynamic resource allocation (https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/).
#pragma once

#include <span>

#include "catalog/yaml/view.h"
#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

// Is `object` a ResourceClaim or ResourceClaimTemplate?
bool is_claim(yaml::View object);

// What the claims of a container's `resources` in a pod's `spec` come to, by `claims`, the ResourceClaims and
// ResourceClaimTemplates of the file. Of a claim that is not there, its name tells whether it is of GPUs, and no count.
Gpus gpus_claimed(yaml::View spec, yaml::View resources, std::span<const yaml::View> claims);

}  // namespace stoker::lint::kubernetes
