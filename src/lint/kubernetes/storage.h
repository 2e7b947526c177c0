// Analyzer stage: what outlives a pod.
#pragma once

#include <string_view>

#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

enum class Lasting { no, on_the_node, everywhere };

// Does what is written into `volume` outlive the pod, and where? A volume of the workload's volumeClaimTemplates, which
// the pod does not list, is everywhere.
Lasting lasting_of(const Mount& mount);

// Has the container a mount, besides /dev/shm, of which something outlives the pod? A folder of the node counts.
bool has_lasting_mount(const Pod& pod, const Container& container);

// The mount that `path` of the container lies below, by the longest mount path; a mount without a path: none.
Mount mount_above(const Pod& pod, const Container& container, std::string_view path);

}  // namespace stoker::lint::kubernetes
