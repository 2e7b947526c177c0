// Analyzer stage: pods with GPUs that wait, and what they wait for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

bool waits(const ClusterReport& report, const PodFacts& pod) {
  return pod.node.empty() && pod.phase == "Pending" && pod.gpus() > 0 &&
         report.is_long_ago(pod.unschedulable_since);
}

std::string waited(const ClusterReport& report, const PodFacts& pod) {
  return format_duration(report.now.since_epoch - pod.unschedulable_since->since_epoch);
}

bool matches(const NodeFacts& node, std::string_view key, std::string_view value) {
  const auto found = node.labels.find(key);
  return found != node.labels.end() && found->second == value;
}

// What the nodes have under `key`: "nvidia.com/gpu.product is A, B".
std::string values_of(const ClusterReport& report, std::string_view key) {
  std::set<std::string> values;
  for (const auto& node : report.facts.nodes()) {
    if (const auto value = node.label(key); !value.empty()) values.emplace(value);
  }
  if (values.empty()) return fmt::format("no node has a label {}", key);
  return fmt::format("nodes have {} {}", key,
                     some_of(std::vector<std::string>(values.begin(), values.end())));
}

void check_selector(const ClusterReport& report, const PodFacts& pod) {
  for (const auto& [key, value] : pod.selector) {
    const bool any = std::ranges::any_of(report.facts.nodes(),
                                         [&, &wanted = key, &is = value](const NodeFacts& node) {
                                           return matches(node, wanted, is);
                                         });
    if (any) continue;
    report.add("node-selector-unmatched", owner_entity(pod),
               fmt::format("pod {} waits since {} for a node with {}={}", pod.name,
                           waited(report, pod), key, value),
               {values_of(report, key)});
    return;
  }
}

void check_amount(const ClusterReport& report, const PodFacts& pod) {
  for (const auto& [resource, amount] : pod.requests) {
    if (!resource.starts_with("nvidia.com/") || amount <= 0) continue;
    double most = 0;
    for (const auto& node : report.facts.nodes())
      most = std::max(most, amount_of(node.capacity, resource));
    if (amount <= most) continue;
    report.add(
        "gpu-request-unmet", owner_entity(pod),
        fmt::format("pod {} waits since {} for {:g} {} on one node, and none has more than {:g}",
                    pod.name, waited(report, pod), amount, resource, most));
    return;
  }
}

// Pods of one gang.
struct Gang {
  std::vector<const PodFacts*> running;
  std::vector<const PodFacts*> waiting;
};

void tell(const ClusterReport& report, const Gang& gang) {
  double held = 0;
  const PodFacts* first = gang.running.front();
  for (const auto* pod : gang.running) {
    held += pod->gpus();
    if (pod->started < first->started) first = pod;
  }
  std::vector<std::string> names;
  names.reserve(gang.waiting.size());
  for (const auto* pod : gang.waiting) names.push_back(pod->name);
  const auto all = gang.running.size() + gang.waiting.size();
  report.add(
      "gang-half-started", owner_entity(*first),
      fmt::format("{} of {} pods run, the first since {}, and hold {}; {} find no node",
                  gang.running.size(), all,
                  format_duration(report.now.since_epoch - first->started->since_epoch),
                  counted(held, "GPU"), gang.waiting.size()),
      {fmt::format("waiting since {}: {}", waited(report, *gang.waiting.front()), some_of(names))});
}

}  // namespace

void check_selectors(const ClusterReport& report) {
  for (const auto& each : report.facts.selectors()) {
    const auto& nodes = report.facts.nodes();
    const bool any = std::ranges::any_of(
        nodes, [&](const NodeFacts& node) { return matches(node, each.key, each.value); });
    // Where no node has the key at all nobody writes it yet, which gpu-labels-missing tells.
    const bool known = std::ranges::any_of(
        nodes, [&](const NodeFacts& node) { return node.labels.contains(each.key); });
    if (any || !known) continue;
    report.add(
        "gpu-selector-unknown", {EntityKind::object, each.workload},
        fmt::format("it selects nodes with {}={}, and none has it now", each.key, each.value),
        {values_of(report, each.key)});
  }
}

void check_waiting(const ClusterReport& report) {
  std::set<std::string> told;
  for (const auto& pod : report.facts.pods()) {
    if (!waits(report, pod) || !told.insert(pod.owner_id()).second) continue;
    check_selector(report, pod);
    check_amount(report, pod);
  }
}

void check_gangs(const ClusterReport& report) {
  std::map<std::string, Gang> gangs;
  for (const auto& pod : report.facts.pods()) {
    if (pod.gang.empty() || pod.gpus() <= 0) continue;
    Gang& gang = gangs[pod.name_space + "/" + pod.gang];
    if (pod.phase == "Running" && report.is_long_ago(pod.started)) gang.running.push_back(&pod);
    if (waits(report, pod)) gang.waiting.push_back(&pod);
  }
  for (const auto& [name, gang] : gangs) {
    if (!gang.running.empty() && !gang.waiting.empty()) tell(report, gang);
  }
}

}  // namespace stoker::lint
