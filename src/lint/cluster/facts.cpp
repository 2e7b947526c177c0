#include "lint/cluster/facts.h"

#include <algorithm>

#include "lint/cluster/read_objects.h"
#include "lint/kubernetes/live.h"
#include "lint/kubernetes/workload.h"

namespace stoker::lint {
namespace {

bool is_nvidia_gpu(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource == "nvidia.com/gpu.shared" ||
         resource.starts_with("nvidia.com/mig-");
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
}

// As a PrometheusRule in a ConfigMap has them (https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/).
bool holds_alerts(std::string_view text) {
  return text.find("alert:") != std::string_view::npos &&
         text.find("expr:") != std::string_view::npos;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// DCGM_FI_DEV_XID_ERRORS, stoker_xid_total; not "maxid".
bool asks_for_xids(std::string_view text) {
  constexpr std::string_view word = "xid";
  const auto same = [](char a, char b) { return lower(a) == b; };
  for (const auto* at = text.begin(); at != text.end(); ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const char before = at == text.begin() ? ' ' : lower(*(at - 1));
    if (before < 'a' || before > 'z') return true;
  }
  return false;
}

}  // namespace

double amount_of(const Amounts& amounts, std::string_view resource) {
  const auto found = amounts.find(resource);
  return found == amounts.end() ? 0 : found->second;
}

bool NodeFacts::has_gpus() const {
  return std::ranges::any_of(
      capacity, [](const auto& each) { return is_nvidia_gpu(each.first) && each.second > 0; });
}

std::string_view NodeFacts::label(std::string_view key) const {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

bool NodeFacts::keeps_away(const std::vector<Toleration>& tolerations) const {
  return std::ranges::any_of(taints, [&](const Taint& taint) {
    const bool hard = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    return hard && std::ranges::none_of(
                       tolerations, [&](const Toleration& each) { return tolerates(each, taint); });
  });
}

double PodFacts::gpus() const {
  double sum = 0;
  for (const auto& [resource, amount] : requests) sum += is_nvidia_gpu(resource) ? amount : 0;
  return sum;
}

std::string PodFacts::owner_id() const {
  return name_space + "/" + (owner.empty() ? "Pod/" + name : owner);
}

void ClusterFacts::add_node(yaml::View node) {
  nodes_.push_back(read_node(node));
  if (nodes_.back().has_gpus()) gpu_nodes_.insert(nodes_.back().name);
}

void ClusterFacts::add_pod(yaml::View pod) {
  PodFacts facts = read_pod(pod);
  if (facts.is_over()) return;
  if (facts.gpus() <= 0 && !gpu_nodes_.contains(facts.node)) return;
  by_node_[facts.node].push_back(pods_.size());
  pods_.push_back(std::move(facts));
}

std::vector<const PodFacts*> ClusterFacts::pods_on(std::string_view node) const {
  std::vector<const PodFacts*> pods;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return pods;
  pods.reserve(found->second.size());
  for (const auto index : found->second) pods.push_back(&pods_[index]);
  return pods;
}

void ClusterFacts::add_workload(yaml::View object) {
  for (const auto& pod : kubernetes::workload_of(object, {}).pods) {
    if (!pod.has_gpus()) continue;
    pod.spec.find("nodeSelector").each_entry([&](yaml::View key, yaml::View value) {
      if (!key.text().starts_with("nvidia.com/")) return;
      selectors_.push_back(
          {kubernetes::object_id(object), std::string(key.text()), std::string(value.text())});
    });
  }
}

void ClusterFacts::add_alerts(std::string_view text, bool is_config_map) {
  if (is_config_map && !holds_alerts(text)) return;
  ++alerts_.objects;
  alerts_.on_xids = alerts_.on_xids || asks_for_xids(text);
}

}  // namespace stoker::lint
