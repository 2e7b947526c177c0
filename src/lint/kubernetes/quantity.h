// Analyzer stage: numbers as Kubernetes writes them.
#pragma once

#include <optional>
#include <string_view>

namespace stoker::lint::kubernetes {

// The number that a quantity is ("500m" -> 0.5, "64Gi" -> 64 * 2^30, "1e3" -> 1000), as
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ says; nullopt: it is none.
std::optional<double> quantity_of(std::string_view text);

}  // namespace stoker::lint::kubernetes
