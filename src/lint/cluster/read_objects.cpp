#include "lint/cluster/read_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "event/log_time.h"
#include "lint/cluster/owners.h"
#include "lint/kubernetes/quantity.h"

namespace stoker::lint {
namespace {

using yaml::View;

struct GangRow {
  std::string_view label;
  std::string_view index;
};

constexpr auto gang_rows = std::to_array<GangRow>({
#define STOKER_GANG(label, index) GangRow{label, index},
#include "lint/cluster/gangs.def"
#undef STOKER_GANG
});

// What tells of a GPU's health, by a part of its image's name.
constexpr std::array<std::string_view, 5> exporters = {"dcgm-exporter", "nvidia_gpu_exporter",
                                                       "nvidia-gpu-exporter", "gpud", "stoker"};

bool is_counted(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("nvidia.com/");
}

Amounts amounts_in(View map) {
  Amounts amounts;
  map.each_entry([&](View key, View value) {
    if (!is_counted(key.text())) return;
    if (const auto number = kubernetes::quantity_of(value.text()))
      amounts[std::string(key.text())] = *number;
  });
  return amounts;
}

std::map<std::string, std::string, std::less<>> texts_in(View map) {
  std::map<std::string, std::string, std::less<>> texts;
  map.each_entry([&](View key, View value) { texts.emplace(key.text(), value.text()); });
  return texts;
}

std::optional<WallTime> time_of(View text) {
  auto rest = text.text();
  event::LogTime time;
  if (!event::take_iso_time(rest, time)) return std::nullopt;
  return time.wall;
}

void add_to(Amounts& sum, const Amounts& more) {
  for (const auto& [resource, amount] : more) sum[resource] += amount;
}

void raise_to(Amounts& most, const Amounts& other) {
  for (const auto& [resource, amount] : other) most[resource] = std::max(most[resource], amount);
}

// An extended resource that is only limited is requested too; the apiserver fills that in, a test's object may not.
Amounts requests_of(View container) {
  Amounts requests = amounts_in(container.at("resources.requests"));
  for (const auto& [resource, amount] : amounts_in(container.at("resources.limits")))
    requests.emplace(resource, amount);
  return requests;
}

// The sum of what runs together, or the most that an init container needs before that; with the overhead
// (https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers).
Amounts requests_in(View spec) {
  Amounts together;
  spec.find("containers").each_item([&](View each) { add_to(together, requests_of(each)); });
  Amounts before;
  spec.find("initContainers").each_item([&](View each) {
    if (each.find("restartPolicy").text() == "Always") {
      add_to(together, requests_of(each));
    } else {
      raise_to(before, requests_of(each));
    }
  });
  raise_to(together, before);
  add_to(together, amounts_in(spec.find("overhead")));
  return together;
}

std::vector<Toleration> tolerations_in(View spec) {
  std::vector<Toleration> tolerations;
  spec.find("tolerations").each_item([&](View each) {
    tolerations.push_back(
        {std::string(each.find("key").text()), std::string(each.find("value").text()),
         std::string(each.find("effect").text()), each.find("operator").text() == "Exists"});
  });
  return tolerations;
}

bool is_part_of_the_cluster(View pod, const PodFacts& facts) {
  const auto priority = pod.at("spec.priorityClassName").text();
  return facts.name_space == "kube-system" || facts.owner.starts_with("DaemonSet/") ||
         facts.owner.starts_with("Node/") || priority.starts_with("system-");
}

// An elastic job runs with some of its pods: torchrun is told a range of nodes (PET_NNODES=1:4).
bool is_elastic(View spec) {
  bool elastic = false;
  spec.find("containers").each_item([&](View container) {
    container.find("env").each_item([&](View variable) {
      elastic = elastic || (variable.find("name").text() == "PET_NNODES" &&
                            variable.find("value").text().find(':') != std::string_view::npos);
    });
  });
  return elastic;
}

std::string gang_of(View pod) {
  const View labels = pod.at("metadata.labels");
  for (const GangRow& row : gang_rows) {
    const auto name = labels.find(row.label).text();
    if (name.empty() || is_elastic(pod.find("spec"))) continue;
    return fmt::format("{}={}{}{}", row.label, name, row.index.empty() ? "" : "/",
                       row.index.empty() ? std::string_view() : labels.find(row.index).text());
  }
  return {};
}

void read_status(View pod, PodFacts& facts) {
  facts.phase = pod.at("status.phase").text();
  facts.started = time_of(pod.at("status.startTime"));
  pod.at("status.conditions").each_item([&](View condition) {
    const auto type = condition.find("type").text();
    const bool yes = condition.find("status").text() == "True";
    if (type == "Ready") facts.ready = yes;
    if (type != "PodScheduled" || yes || condition.find("reason").text() != "Unschedulable") return;
    facts.unschedulable_since = time_of(condition.find("lastTransitionTime"));
    if (!facts.unschedulable_since)
      facts.unschedulable_since = time_of(pod.at("metadata.creationTimestamp"));
  });
}

void read_containers(View spec, PodFacts& facts) {
  spec.find("containers").each_item([&](View container) {
    const auto image = container.find("image").text();
    for (const auto& part : exporters)
      facts.exporter = facts.exporter || image.find(part) != std::string_view::npos;
    const auto requests = requests_of(container);
    const bool gpus = std::ranges::any_of(requests, [](const auto& each) {
      return each.first.starts_with("nvidia.com/") && each.second > 0;
    });
    if (gpus) facts.images.emplace_back(image);
  });
}

}  // namespace

NodeFacts read_node(View node) {
  NodeFacts facts;
  facts.name = node.at("metadata.name").text();
  facts.labels = texts_in(node.at("metadata.labels"));
  facts.capacity = amounts_in(node.at("status.capacity"));
  facts.allocatable = amounts_in(node.at("status.allocatable"));
  facts.cordoned = node.at("spec.unschedulable").text() == "true";
  node.at("spec.taints").each_item([&](View taint) {
    facts.taints.push_back({std::string(taint.find("key").text()),
                            std::string(taint.find("value").text()),
                            std::string(taint.find("effect").text())});
  });
  node.at("status.conditions").each_item([&](View condition) {
    if (condition.find("type").text() == "Ready")
      facts.ready = condition.find("status").text() == "True";
  });
  return facts;
}

PodFacts read_pod(View pod) {
  PodFacts facts;
  const View spec = pod.find("spec");
  facts.name_space = pod.at("metadata.namespace").text();
  facts.name = pod.at("metadata.name").text();
  if (const View owner = controller_of(pod); owner.exists())
    facts.owner = fmt::format("{}/{}", owner.find("kind").text(), owner.find("name").text());
  facts.node = spec.find("nodeName").text();
  facts.requests = requests_in(spec);
  facts.selector = texts_in(spec.find("nodeSelector"));
  facts.tolerations = tolerations_in(spec);
  facts.affinity =
      spec.at("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution").exists();
  facts.system = is_part_of_the_cluster(pod, facts);
  facts.gang = gang_of(pod);
  read_status(pod, facts);
  read_containers(spec, facts);
  return facts;
}

}  // namespace stoker::lint
