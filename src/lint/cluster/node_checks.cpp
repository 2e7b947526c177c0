// Analyzer stage: what nodes say of their GPUs, and whom they let in.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

// Labels by which providers name a node's GPU: GPU feature discovery, GKE, EKS, Karpenter, AKS.
constexpr std::array<std::string_view, 6> product_labels = {
    "nvidia.com/gpu.product",           "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",    "karpenter.k8s.aws/instance-gpu-name",
    "kubernetes.azure.com/accelerator", "accelerator"};

bool names_its_gpu(const NodeFacts& node) {
  return std::ranges::any_of(product_labels,
                             [&](std::string_view key) { return !node.label(key).empty(); });
}

// Is the node divided by MIG? Then its labels count otherwise.
bool is_mig(const NodeFacts& node) {
  return node.label("nvidia.com/mig.strategy") == "single" ||
         node.label("nvidia.com/mig.strategy") == "mixed" ||
         node.label("nvidia.com/gpu.product").find("MIG") != std::string_view::npos ||
         std::ranges::any_of(node.capacity, [](const auto& each) {
           return each.first.starts_with("nvidia.com/mig-") && each.second > 0;
         });
}

// GPU feature discovery writes gpu.count, physical GPUs, and gpu.replicas, shares of each.
void check_count(const ClusterReport& report, const NodeFacts& node) {
  const auto count = whole_number<int>(node.label("nvidia.com/gpu.count"));
  const auto replicas = whole_number<int>(node.label("nvidia.com/gpu.replicas")).value_or(1);
  const double offered = amount_of(node.capacity, "nvidia.com/gpu") +
                         amount_of(node.capacity, "nvidia.com/gpu.shared");
  if (!count || replicas < 1 || is_mig(node)) return;
  // No such resource at all: dynamic allocation, or names of one's own. Of one that stands at 0 the plugin once told.
  if (offered <= 0 && (node.has_gpus() || !node.capacity.contains("nvidia.com/gpu"))) return;
  const double expected = static_cast<double>(*count) * replicas;
  if (offered >= expected) return;
  report.add("gpu-count-differs", node_entity(node),
             fmt::format("node {} offers {}, and its labels count {}", node.name,
                         counted(offered, replicas > 1 ? "share" : "GPU"),
                         replicas > 1
                             ? fmt::format("{} of {} shares each", counted(*count, "GPU"), replicas)
                             : counted(*count, "GPU")));
}

std::vector<const NodeFacts*> gpu_nodes(const ClusterReport& report) {
  std::vector<const NodeFacts*> nodes;
  for (const auto& node : report.facts.nodes()) {
    if (node.has_gpus()) nodes.push_back(&node);
  }
  return nodes;
}

// Did somebody put a taint there that keeps others away? Those of the node's conditions come and go by themselves
// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-nodes-by-condition).
bool is_reserved(const NodeFacts& node) {
  return std::ranges::any_of(node.taints, [](const Taint& taint) {
    return taint.effect != "PreferNoSchedule" && !taint.key.starts_with("node.kubernetes.io/");
  });
}

// What one GPU's share of the node is: who takes less leaves every GPU enough to work with.
double share_of_gpu(const NodeFacts& node, std::string_view resource) {
  double gpus = 0;
  for (const auto& [name, amount] : node.capacity)
    gpus += name.starts_with("nvidia.com/") ? amount : 0;
  return amount_of(node.allocatable, resource) / std::max(gpus, 1.0);
}

// Has the cluster a node for pods without GPUs?
bool has_other_nodes(const ClusterReport& report) {
  return std::ranges::any_of(report.facts.nodes(), [](const NodeFacts& node) {
    return !node.has_gpus() && node.ready && !node.cordoned && !is_reserved(node);
  });
}

}  // namespace

void check_labels(const ClusterReport& report) {
  const auto nodes = gpu_nodes(report);
  for (const auto& node : report.facts.nodes()) check_count(report, node);
  std::vector<std::string> unnamed;
  for (const auto* node : nodes) {
    if (!names_its_gpu(*node)) unnamed.push_back(node->name);
  }
  if (unnamed.empty()) return;
  report.add("gpu-labels-missing", report.cluster(),
             fmt::format("{} of {} say nowhere which GPU they have: {}", unnamed.size(),
                         counted(static_cast<double>(nodes.size()), "GPU node"), some_of(unnamed)));
}

void check_health(const ClusterReport& report) {
  for (const auto* node : gpu_nodes(report)) {
    for (const auto& [resource, amount] : node->capacity) {
      if (!resource.starts_with("nvidia.com/")) continue;
      const double usable = amount_of(node->allocatable, resource);
      if (usable >= amount) continue;
      report.add("gpu-unhealthy", node_entity(*node),
                 fmt::format("node {} has {:g} {}, of which {:g} can be given out", node->name,
                             amount, resource, usable));
    }
  }
}

void check_taints(const ClusterReport& report) {
  if (!has_other_nodes(report)) return;
  std::vector<std::string> open;
  for (const auto* node : gpu_nodes(report)) {
    if (is_reserved(*node) || node->cordoned) continue;
    std::vector<std::string> guests;
    double cpu = 0;
    double memory = 0;
    for (const auto* pod : report.facts.pods_on(node->name)) {
      if (pod->gpus() > 0 || pod->system || pod->exporter) continue;
      guests.push_back(fmt::format("{}/{}", pod->name_space, pod->name));
      cpu += amount_of(pod->requests, "cpu");
      memory += amount_of(pod->requests, "memory");
    }
    if (guests.empty()) {
      open.push_back(node->name);
      continue;
    }
    Finding& finding = report.add(
        "cpu-pods-on-gpu-node", node_entity(*node),
        fmt::format(
            "{} and {} of node {}, which no taint keeps free, are asked for by {} without GPUs",
            counted(cpu, "CPU"), gibibytes(memory), node->name,
            counted(static_cast<double>(guests.size()), "pod")),
        {some_of(guests)});
    if (cpu < share_of_gpu(*node, "cpu") && memory < share_of_gpu(*node, "memory"))
      finding.severity = Severity::info;
  }
  if (open.empty()) return;
  report.add("gpu-node-untainted", report.cluster(),
             fmt::format("no taint keeps other pods off {}: {}",
                         counted(static_cast<double>(open.size()), "GPU node"), some_of(open)));
}

}  // namespace stoker::lint
