// Analyzer stage: on which nodes the pods may land. Good to know, and no more: providers add tolerations, and a cluster
// of one kind of GPU needs no selector.
#include <algorithm>
#include <array>

#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

bool tolerates_gpus(const Pod& pod) {
  bool tolerates = false;
  pod.spec.find("tolerations").each_item([&](View toleration) {
    const auto key = toleration.find("key").text();
    tolerates = tolerates || key.starts_with("nvidia.com/") || key.empty();
  });
  return tolerates;
}

}  // namespace

void check_placement(const Subject& subject) {
  if (!is_work(subject.evidence)) return;
  for (const Pod& pod : subject.workload.pods) {
    const auto with_gpus =
        std::ranges::find_if(pod.containers, [](const Container& each) { return each.gpus.any; });
    if (with_gpus == pod.containers.end() || !is_complete(pod, *with_gpus) || pod.open) continue;
    if (pod.may_gain("nodeSelector") || pod.may_gain("affinity") || pod.may_gain("tolerations"))
      continue;
    const View spec = pod.spec;
    if (!spec.find("nodeSelector").is_map() && !spec.at("affinity.nodeAffinity").is_map() &&
        !spec.find("nodeName").exists()) {
      subject.add(RuleId::gpu_selector_missing, with_gpus->place(),
                  fmt::format("{} may land on any kind of GPU", subject.name_of(*with_gpus)));
    }
    if (!tolerates_gpus(pod)) {
      subject.add(RuleId::gpu_toleration_missing, with_gpus->place(),
                  fmt::format("{} tolerates no taint of GPU nodes", subject.name_of(*with_gpus)));
    }
  }
}

}  // namespace stoker::lint::kubernetes
