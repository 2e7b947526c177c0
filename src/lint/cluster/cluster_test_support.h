// Test support: nodes and pods as an apiserver gives them, as JSON, and what is told of a cluster of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lint/cluster/cluster.h"

namespace stoker::lint {

// 2026-11-29T12:00:00Z; `minutes` before it, as the API writes it.
inline constexpr WallTime noon{std::chrono::seconds(1'795'953'600)};
inline std::string minutes_ago(int minutes) {
  return format_utc({noon.since_epoch - std::chrono::minutes(minutes)});
}

struct NodeText {
  std::string name = "gpu-1";
  int gpus = 8;  // 0: it has no such resource; -1: it has none of it
  int usable = -1;
  std::string labels = R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3")";
  std::string taints = R"({"key":"nvidia.com/gpu","effect":"NoSchedule"})";
  std::string cpu = "96";
  std::string memory = "1024Gi";
};

inline std::string node_json(const NodeText& node) {
  const auto resources = [&](int gpus) {
    return fmt::format(
        R"({{"cpu":"{}","memory":"{}","pods":"110"{}}})", node.cpu, node.memory,
        node.gpus != 0 ? fmt::format(R"(,"nvidia.com/gpu":"{}")", std::max(gpus, 0)) : "");
  };
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"taints":[{}]}},)"
      R"("status":{{"capacity":{},"allocatable":{},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      node.name, node.labels, node.taints, resources(node.gpus),
      resources(node.usable < 0 ? node.gpus : node.usable));
}

struct PodText {
  std::string name = "p";
  std::string node;  // empty: it waits
  int gpus = 0;
  std::string cpu = "1";
  std::string memory = "1Gi";
  std::string image = "example.com/work:1.2";
  std::string labels;
  std::string owner;     // "Kind/name"
  std::string selector;  // entries of nodeSelector
  int minutes = 60;      // since it started, or waits
  std::string tolerations = R"({"key":"nvidia.com/gpu","operator":"Exists"})";
  std::string more;  // of the spec, with a comma in front
  std::string env;
};

inline std::string pod_json(const PodText& pod) {
  const auto slash = pod.owner.find('/');
  const std::string owner =
      pod.owner.empty()
          ? ""
          : fmt::format(
                R"({{"apiVersion":"x/v1","kind":"{}","name":"{}","uid":"u","controller":true}})",
                pod.owner.substr(0, slash), pod.owner.substr(slash + 1));
  const std::string status =
      pod.node.empty()
          ? fmt::format(
                R"("phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"{}"}}])",
                minutes_ago(pod.minutes))
          : fmt::format(
                R"("phase":"Running","startTime":"{}","conditions":[{{"type":"Ready","status":"True"}}])",
                minutes_ago(pod.minutes));
  const std::string gpus = pod.gpus > 0 ? fmt::format(R"("nvidia.com/gpu":"{}")", pod.gpus) : "";
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"ml","labels":{{{}}},"ownerReferences":[{}]}},)"
      R"("spec":{{"nodeName":"{}","nodeSelector":{{{}}},"tolerations":[{}],"containers":[{{"name":"main","image":"{}","env":[{}],)"
      R"("resources":{{"requests":{{"cpu":"{}","memory":"{}"}},"limits":{{{}}}}}}}]{}}},"status":{{{}}}}})",
      pod.name, pod.labels, owner, pod.node, pod.selector, pod.tolerations, pod.image, pod.env,
      pod.cpu, pod.memory, gpus, pod.more, status);
}

// Everything seen, with an exporter on each GPU node and an alert on Xids, so that a test is about one thing.
inline ClusterFacts facts_of(const std::vector<NodeText>& nodes, const std::vector<PodText>& pods) {
  ClusterFacts facts;
  facts.seen = {.nodes = true, .pods = true, .alerts = true};
  const auto add = [&](const std::string& json, auto how) {
    const auto document = yaml::Document::parse({json, 1}, "object");
    if (!document) std::abort();
    (facts.*how)(document->root());
  };
  for (const auto& node : nodes) add(node_json(node), &ClusterFacts::add_node);
  for (const auto& pod : pods) add(pod_json(pod), &ClusterFacts::add_pod);
  for (const auto& node : nodes) {
    if (node.gpus == 0) continue;
    add(pod_json({.name = "exporter",
                  .node = node.name,
                  .cpu = "0",
                  .memory = "0",
                  .image = "x/dcgm-exporter:1",
                  .owner = "DaemonSet/e"}),
        &ClusterFacts::add_pod);
  }
  facts.add_alerts(R"({"expr":"DCGM_FI_DEV_XID_ERRORS > 0"})", false);
  return facts;
}

// "rule: message" of each finding of `rule`, or of all of at least warning.
inline std::vector<std::string> told_of_cluster(const ClusterFacts& facts,
                                                std::string_view rule = {}) {
  std::vector<std::string> out;
  for (const auto& finding : lint_cluster(facts, "test", noon)) {
    if (rule.empty() ? finding.severity >= Severity::warning : finding.rule == rule)
      out.push_back(finding.rule + ": " + finding.message);
  }
  return out;
}

}  // namespace stoker::lint
