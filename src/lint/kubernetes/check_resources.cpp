// Analyzer stage: the memory and CPU of containers with GPUs.
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

// KServe gives an InferenceService's containers a limit of 1 CPU and 2 GiB where they say nothing
// (config/configmap/inferenceservice.yaml, "resource").
bool is_given_defaults(const Subject& subject) {
  return subject.workload.kind == "InferenceService";
}

}  // namespace

void check_resources(const Subject& subject) {
  if (!is_work(subject.evidence) || is_given_defaults(subject)) return;
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (!has_all_resources(pod, container)) continue;
      if (!container.limits.find("memory").exists()) {
        subject.add(RuleId::memory_limit_missing, container.place(),
                    fmt::format("{} has GPUs and no memory limit", subject.name_of(container)));
      }
      if (!container.requests.find("cpu").exists() && !container.limits.find("cpu").exists()) {
        subject.add(RuleId::cpu_request_missing, container.place(),
                    fmt::format("{} has GPUs and no CPU request", subject.name_of(container)));
      }
    }
  }
}

}  // namespace stoker::lint::kubernetes
