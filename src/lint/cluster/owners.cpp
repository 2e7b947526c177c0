#include "lint/cluster/owners.h"

#include <fmt/format.h>

#include <algorithm>

#include "lint/kubernetes/kinds.h"

namespace stoker::lint {
namespace {

using yaml::View;

bool has_ended(View object) {
  const auto kind = object.find("kind").text();
  if (kind == "Pod") {
    const auto phase = object.at("status.phase").text();
    return phase == "Succeeded" || phase == "Failed";
  }
  // What a Deployment keeps to roll back to.
  if (kind == "ReplicaSet") return object.at("spec.replicas").text() == "0";
  if (!kind.ends_with("Job") || kind == "CronJob") return false;
  // Job, JobSet, PyTorchJob and others of Kubeflow say it by a condition, RayJob by a word.
  const auto word = object.at("status.jobDeploymentStatus").text();
  bool ended = word == "Complete" || word == "Failed";
  object.at("status.conditions").each_item([&](View condition) {
    const auto type = condition.find("type").text();
    const bool last =
        type == "Complete" || type == "Completed" || type == "Failed" || type == "Succeeded";
    ended = ended || (last && condition.find("status").text() == "True");
  });
  return ended;
}

// What tells pods of one controller apart that do different work: images, GPUs.
std::string shape_of(View pod) {
  std::string shape;
  pod.at("spec.containers").each_item([&](View container) {
    shape += fmt::format("|{}", container.find("image").text());
    container.at("resources.limits").each_entry([&](View key, View value) {
      if (key.text().find('/') != std::string_view::npos)
        shape += fmt::format(" {}={}", key.text(), value.text());
    });
  });
  return shape;
}

}  // namespace

View controller_of(View object) {
  View found;
  object.at("metadata.ownerReferences").each_item([&](View owner) {
    if (owner.find("controller").text() == "true") found = owner;
  });
  return found;
}

void Owners::add_kind(std::string group, std::string kind) {
  kinds_.emplace(std::move(group), std::move(kind));
}

Look Owners::look_at(View object) {
  if (has_ended(object)) return Look::ended;
  const View owner = controller_of(object);
  if (!owner.exists()) return Look::itself;
  const std::pair<std::string, std::string> kind(
      kubernetes::group_of(owner.find("apiVersion").text()), owner.find("kind").text());
  if (kinds_.contains(kind)) return Look::by_owner;
  const auto key = fmt::format("{}{}", owner.find("uid").text(), shape_of(object));
  return seen_.insert(key).second ? Look::itself : Look::as_twin;
}

}  // namespace stoker::lint
