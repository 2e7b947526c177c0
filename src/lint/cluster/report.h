// Analyzer stage: what a check about a cluster gets to see, and where it says what it found. Private to cluster.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "lint/cluster/cluster.h"

namespace stoker::lint {

// How long a pod may wait before that is wrong: as long as a new node may take, the default of the cluster autoscaler's
// --max-node-provision-time (https://github.com/kubernetes/autoscaler cluster-autoscaler/FAQ.md).
inline constexpr std::chrono::minutes patience{15};

struct ClusterReport {
  const ClusterFacts& facts;
  const std::string& name;
  WallTime now;
  std::vector<Finding>& findings;

  Finding& add(std::string_view rule, Entity entity, std::string message,
               std::vector<std::string> evidence = {}) const {
    findings.push_back(finding_about(rule_of(cluster_rules(), rule), std::move(entity),
                                     std::move(message), std::move(evidence)));
    return findings.back();
  }
  [[nodiscard]] Entity cluster() const { return {EntityKind::cluster, name}; }
  // Has it been so for longer than one waits for a node?
  [[nodiscard]] bool is_long_ago(const std::optional<WallTime>& since) const {
    return since && now.since_epoch - since->since_epoch > patience;
  }
};

inline Entity node_entity(const NodeFacts& node) { return {EntityKind::node, node.name}; }
inline Entity owner_entity(const PodFacts& pod) { return {EntityKind::object, pod.owner_id()}; }

void check_labels(const ClusterReport& report);
void check_health(const ClusterReport& report);
void check_selectors(const ClusterReport& report);
void check_taints(const ClusterReport& report);
void check_sharing(const ClusterReport& report);
void check_telemetry(const ClusterReport& report);
void check_waiting(const ClusterReport& report);
void check_gangs(const ClusterReport& report);
void check_stranded(const ClusterReport& report);
void check_cuda(const ClusterReport& report);

// "8 GPUs", "1 GPU".
std::string counted(double number, std::string_view what);
// "96 GiB".
std::string gibibytes(double bytes);
// "a, b, c and 4 more".
std::string some_of(const std::vector<std::string>& names);

}  // namespace stoker::lint
