// Analyzer stage: a cluster as the rules about all of it see it: of each node and pod what they ask, and no more, so that
// tens of thousands fit.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "catalog/yaml/view.h"

namespace stoker::lint {

// By resource name: cpu in cores, memory in bytes, nvidia.com/... in pieces; of others only those that pods ask for.
using Amounts = std::map<std::string, double, std::less<>>;
double amount_of(const Amounts& amounts, std::string_view resource);

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

struct Toleration {
  std::string key;  // empty with Exists: every taint
  std::string value;
  std::string effect;  // empty: every effect
  bool exists = false;
};

struct NodeFacts {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  std::vector<Taint> taints;
  Amounts capacity;
  Amounts allocatable;
  bool ready = false;
  bool cordoned = false;

  // Whole or shared GPUs and MIG devices of NVIDIA's device plugin; of other makers nothing is said here.
  [[nodiscard]] bool has_gpus() const;
  [[nodiscard]] std::string_view label(std::string_view key) const;  // empty: it has none
  // Does a taint keep pods away that do not tolerate it?
  [[nodiscard]] bool keeps_away(const std::vector<Toleration>& tolerations) const;
};

struct PodFacts {
  std::string name_space;
  std::string name;
  std::string owner;  // "ReplicaSet/llm-5d": what controls it; empty: nothing
  std::string node;   // empty: it has none yet
  std::string phase;  // "Running"
  bool ready = false;
  bool system = false;  // part of the cluster: of a DaemonSet, a static pod, kube-system, critical
  std::optional<WallTime> started;              // on its node
  std::optional<WallTime> unschedulable_since;  // what the scheduler says; nullopt: it does not
  Amounts requests;                             // as the scheduler counts them
  std::map<std::string, std::string, std::less<>> selector;
  std::vector<Toleration> tolerations;
  bool affinity = false;            // required node affinity, which is not read here
  std::string gang;                 // pods with the same have to run together; empty: it runs alone
  std::vector<std::string> images;  // of containers with GPUs
  bool exporter = false;            // tells of GPUs' health: dcgm-exporter, stoker and others

  [[nodiscard]] double gpus() const;  // of all kinds
  [[nodiscard]] bool is_over() const { return phase == "Succeeded" || phase == "Failed"; }
  // "ml/ReplicaSet/llm-5d", or "ml/Pod/llm" where nothing controls it.
  [[nodiscard]] std::string owner_id() const;
};

// A label of GPU nodes that a workload with GPUs selects by.
struct SelectorFacts {
  std::string workload;  // "ml/Deployment/llm"
  std::string key;
  std::string value;
};

// What rules of alerts there are.
struct AlertFacts {
  std::size_t objects = 0;  // PrometheusRule, VMRule, ..., and ConfigMaps that hold alerts
  bool on_xids = false;     // one of them asks for Xids
};

// What was seen to its end: without it a rule can't say that a thing is missing.
struct SeenFacts {
  bool nodes = false;
  bool pods = false;
  bool alerts = false;
};

class ClusterFacts {
 public:
  // Objects as an apiserver gives them. Nodes first: of pods only those with GPUs and on nodes with GPUs are kept.
  void add_node(yaml::View node);
  void add_pod(yaml::View pod);
  // Any object that carries pods: what its templates with GPUs select by.
  void add_workload(yaml::View object);
  // A PrometheusRule or its like, or a ConfigMap; `text` is its JSON.
  void add_alerts(std::string_view text, bool is_config_map);

  [[nodiscard]] const std::vector<NodeFacts>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<PodFacts>& pods() const { return pods_; }
  // Those of pods() that are on the node of that name; empty: those that have none yet.
  [[nodiscard]] std::vector<const PodFacts*> pods_on(std::string_view node) const;
  [[nodiscard]] const std::vector<SelectorFacts>& selectors() const { return selectors_; }
  [[nodiscard]] const AlertFacts& alerts() const { return alerts_; }
  SeenFacts seen;

 private:
  std::vector<NodeFacts> nodes_;
  std::set<std::string, std::less<>> gpu_nodes_;
  std::vector<PodFacts> pods_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_node_;  // of pods_
  std::vector<SelectorFacts> selectors_;
  AlertFacts alerts_;
};

}  // namespace stoker::lint
