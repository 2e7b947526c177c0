// Ground stage: what a reading, an event or a finding is about.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

enum class EntityKind {
  node,
  gpu,
  mig,
  nvlink,
  nvswitch,
  port,
  nic,
  process,
  pod,
  job,
  file,
  object,
  cluster
};

// Stable lower-case word, e.g. "gpu".
const char* to_string(EntityKind kind);

std::optional<EntityKind> entity_kind_of(std::string_view word);

// `id` names one entity of its kind for good: a GPU's or MIG instance's UUID, "<gpu uuid>/<link>"
// for an NVLink, a host name for the node, "<pid>" for a process, a path for a file, "<namespace>/<Kind>/<name>" for an
// object of Kubernetes, the context's name for a cluster.
struct Entity {
  EntityKind kind = EntityKind::node;
  std::string id;
  friend auto operator<=>(const Entity&, const Entity&) = default;
};

}  // namespace stoker
