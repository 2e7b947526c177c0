// Analyzer stage: what an object says of its pods: selector, rollout, how they may end, volumes.
#include <algorithm>

#include "base/text.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

void check_selector(const Subject& subject, const Pod& pod) {
  if (pod.row->group != "apps") return;
  const View wanted = subject.workload.object.at("spec.selector.matchLabels");
  const View labels = pod.metadata.find("labels");
  if (pod.partial || (subject.source.templated && !labels.is_map())) return;
  wanted.each_entry([&](View key, View value) {
    const View label = labels.find(key.text());
    if (label.text() == value.text() && label.exists()) return;
    if (is_filled_in_later(key.text()) || is_filled_in_later(value.text()) ||
        is_filled_in_later(label.text()))
      return;
    if (!label.exists() && !subject.source.holes.empty()) return;
    subject.add(RuleId::selector_mismatch, key.place(),
                fmt::format("{} selects pods with {}={}, and its own have {}", subject.name(),
                            key.text(), value.text(),
                            label.exists() ? fmt::format("{}={}", key.text(), label.text())
                                           : "no such label"));
  });
}

bool is_zero(View value) { return value.text() == "0" || value.text() == "0%"; }

void check_rollout(const Subject& subject, const Pod& pod) {
  if (subject.workload.kind != "Deployment" || pod.row->group != "apps" || pod.partial) return;
  const View spec = subject.workload.object.find("spec");
  const View strategy = spec.find("strategy");
  if (strategy.find("type").text() == "Recreate" || spec.find("replicas").text() == "0") return;
  const View surge = strategy.at("rollingUpdate.maxSurge");
  const View unavailable = strategy.at("rollingUpdate.maxUnavailable");
  if (unavailable.exists() && is_zero(unavailable)) {
    return subject.add(
        RuleId::surge_needs_gpus, unavailable.place(),
        fmt::format("{} ends no pod before a new one runs, so every rollout needs free GPUs",
                    subject.name()));
  }
  // The default of maxUnavailable, 25 %, is none of up to three replicas.
  const auto replicas = spec.find("replicas").is_null()
                            ? std::optional<int>(1)
                            : whole_number<int>(spec.find("replicas").text());
  if (unavailable.exists() || (surge.exists() && is_zero(surge)) || !replicas || *replicas > 3 ||
      !subject.source.holes.empty())
    return;
  subject.add(RuleId::surge_by_default, subject.workload.object.at("kind").place(),
              fmt::format("{} has {} replica{} and no rollout of its own", subject.name(),
                          *replicas, *replicas == 1 ? "" : "s"));
}

void check_ending(const Subject& subject, const Pod& pod) {
  const bool job = pod.row->group == "batch" || pod.row->group == "jobset.x-k8s.io";
  if (!job || pod.partial || pod.may_gain("restartPolicy") || pod.containers.empty()) return;
  const View policy = pod.spec.find("restartPolicy");
  const auto word = policy.text();
  // JobSet's controller sets OnFailure where nothing is said (pkg/webhooks/jobset_webhook.go).
  if (policy.is_null() && pod.row->group != "batch") return;
  if (word == "Never" || word == "OnFailure" || is_filled_in_later(word)) return;
  subject.add(RuleId::job_restart_policy, policy.is_null() ? pod.spec.place() : policy.place(),
              fmt::format("{} has restartPolicy {}", subject.name(),
                          policy.is_null() ? "Always, by default" : word));
}

void check_volumes(const Subject& subject, const Pod& pod) {
  if (pod.row->gives != Gives::nothing || pod.partial || pod.may_gain("volumes")) return;
  const View claims = subject.workload.object.at("spec.volumeClaimTemplates");
  for (const Container& container : pod.containers) {
    for (const Mount& mount : mounts_of(pod, container)) {
      const View name = mount.view.find("name");
      if (mount.volume.exists() || name.is_null() || is_filled_in_later(name.text())) continue;
      bool claimed = false;
      claims.each_item([&](View claim) {
        claimed = claimed || claim.at("metadata.name").text() == name.text();
      });
      if (claimed) continue;
      subject.add(RuleId::volume_undefined, name.place(),
                  fmt::format("{} mounts volume '{}', which the pod has not",
                              subject.name_of(container), name.text()));
    }
  }
}

// GPUs beside limits and requests are no limit: the API drops them, or refuses the object.
void check_resources_keys(const Subject& subject, const Pod& pod) {
  for (const Container& container : pod.containers) {
    container.view.find("resources").each_entry([&](View key, View) {
      if (!is_gpu_resource(key.text())) return;
      subject.add(
          RuleId::field_misplaced, key.place(),
          fmt::format("{} of {} belongs under limits", key.text(), subject.name_of(container)));
    });
  }
}

}  // namespace

void check_object(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    check_selector(subject, pod);
    check_resources_keys(subject, pod);
    if (!pod.has_gpus()) continue;
    check_rollout(subject, pod);
    check_ending(subject, pod);
    check_volumes(subject, pod);
  }
}

}  // namespace stoker::lint::kubernetes
