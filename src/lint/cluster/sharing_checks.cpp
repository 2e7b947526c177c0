// Analyzer stage: GPUs that several pods share, and who tells of all of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

// Are the node's GPUs shared by time-slicing? Labels of GPU feature discovery; before v0.15 sharing-strategy was not there,
// and the product says it.
bool is_time_sliced(const NodeFacts& node) {
  const auto strategy = node.label("nvidia.com/gpu.sharing-strategy");
  if (!strategy.empty()) return strategy == "time-slicing";
  return node.label("nvidia.com/gpu.product").ends_with("-SHARED");
}

double shares_of(const PodFacts& pod) {
  return amount_of(pod.requests, "nvidia.com/gpu") +
         amount_of(pod.requests, "nvidia.com/gpu.shared");
}

void check_several(const ClusterReport& report, const std::set<std::string_view>& sliced) {
  std::set<std::string> told;
  for (const auto& pod : report.facts.pods()) {
    const double shares = shares_of(pod);
    if (shares < 2 || !sliced.contains(pod.node) || !told.insert(pod.owner_id()).second) continue;
    report.add("gpu-shared-several", owner_entity(pod),
               fmt::format("pod {} has {} of node {}, whose GPUs are shared by time-slicing",
                           pod.name, counted(shares, "share"), pod.node));
  }
}

// Nodes with GPUs on which no pod that runs is an exporter.
std::vector<std::string> untold_nodes(const ClusterReport& report, std::size_t& all) {
  std::set<std::string_view> told;
  for (const auto& pod : report.facts.pods()) {
    if (pod.exporter && pod.phase == "Running") told.insert(pod.node);
  }
  std::vector<std::string> untold;
  for (const auto& node : report.facts.nodes()) {
    // A node that is not ready runs nothing that we could ask.
    if (!node.has_gpus() || !node.ready) continue;
    ++all;
    if (!told.contains(node.name)) untold.push_back(node.name);
  }
  return untold;
}

}  // namespace

void check_sharing(const ClusterReport& report) {
  std::set<std::string_view> sliced;
  std::vector<std::string> names;
  for (const auto& node : report.facts.nodes()) {
    if (!node.has_gpus() || !is_time_sliced(node)) continue;
    sliced.insert(node.name);
    const auto replicas = node.label("nvidia.com/gpu.replicas");
    names.push_back(replicas.empty() ? node.name
                                     : fmt::format("{} ({} shares a GPU)", node.name, replicas));
  }
  if (names.empty()) return;
  report.add("gpu-time-sliced", report.cluster(),
             fmt::format("GPUs are shared by time-slicing on {}: {}",
                         counted(static_cast<double>(names.size()), "node"), some_of(names)));
  check_several(report, sliced);
}

void check_telemetry(const ClusterReport& report) {
  std::size_t all = 0;
  const auto untold = untold_nodes(report, all);
  if (!untold.empty()) {
    report.add(
        "exporter-missing", report.cluster(),
        fmt::format("no exporter of GPU metrics runs as a pod on {} of {}: {}", untold.size(),
                    counted(static_cast<double>(all), "GPU node"), some_of(untold)),
        {"one that runs on the host itself is not seen from here"});
  }
  const AlertFacts& alerts = report.facts.alerts();
  if (all == 0 || !report.facts.seen.alerts || alerts.on_xids) return;
  if (alerts.objects > 0) {
    report.add("xid-alert-missing", report.cluster(),
               fmt::format("none of {} with alert rules asks for Xids",
                           counted(static_cast<double>(alerts.objects), "object")));
    return;
  }
  // Who has no rules in the cluster may have them where Prometheus or a service runs.
  report.add("xid-alert-missing", report.cluster(), "there are no alert rules in this cluster")
      .severity = Severity::info;
}

}  // namespace stoker::lint
