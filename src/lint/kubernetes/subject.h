// Analyzer stage: what a check about manifests gets to see, and where it says what it found.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/kubernetes/evidence.h"
#include "lint/kubernetes/repair.h"
#include "lint/kubernetes/rules.h"
#include "lint/kubernetes/template_text.h"
#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

// One workload with what is known of it and of the file it stands in.
struct Subject {
  const Workload& workload;
  const Evidence& evidence;
  std::string_view file;
  const TemplateText& source;               // the file, as a template
  const std::vector<yaml::View>& services;  // the Services of the file
  std::vector<Finding>& findings;
  std::vector<Repair>& repairs;

  void add(RuleId rule, yaml::Place place, const std::string& message,
           std::vector<std::string> because = {}) const {
    because.insert(because.end(), evidence.reasons.begin(), evidence.reasons.end());
    findings.push_back(finding_of(row_of(rule), {std::string(file), place.line, place.column},
                                  readable(message), std::move(because)));
  }
  // "container 'x' of Deployment 'y'".
  [[nodiscard]] std::string name_of(const Container& container) const {
    if (container.name.empty()) return fmt::format("a container of {}", name());
    return fmt::format("container '{}' of {}", container.name, name());
  }
  [[nodiscard]] std::string name() const {
    return fmt::format("{} '{}'", workload.kind, workload.name);
  }
};

// May a key be said to be missing in this container? Not in a patch, in a template that may add it, or where a controller
// or runtime adds what is not here. Whether a template may add to a key that is there, may_gain() says.
inline bool is_complete(const Pod& pod, const Container& container) {
  return !pod.partial && !container.open && pod.row->gives != Gives::runtime;
}

// Are the container's resources all that it will have? Who gives GPUs says the rest beside them: a TrainJob's
// resourcesPerNode take the place of its runtime's (kubeflow/trainer pkg/runtime/framework/plugins/jobset), and nothing else
// adds to a runtime's.
inline bool has_all_resources(const Pod& pod, const Container& container) {
  return container.gpus.any && !pod.partial && !container.may_gain("resources");
}

// Are the volumes that this container mounts all that it will have?
inline bool has_all_volumes(const Pod& pod, const Container& container) {
  return !pod.may_gain("volumes") && !container.may_gain("volumeMounts");
}

// Work that somebody waits for: not a test, nor a part of the cluster.
inline bool is_work(const Evidence& evidence) {
  return evidence.purpose != Purpose::benchmark && evidence.purpose != Purpose::system;
}

// Where a workload stands.
struct Around {
  std::string_view file;
  const TemplateText& source;
  const std::vector<yaml::View>& services;
  // Something in the file asks for GPUs: what stands with it belongs to it, as the proxy before a server.
  bool beside_gpus = false;
};

// All checks of one workload, each adding what it finds.
void check_workload(const Workload& workload, const Around& around, std::vector<Finding>& findings,
                    std::vector<Repair>& repairs);

// The checks: one function a theme, each adding what it finds.
void check_images(const Subject& subject);
void check_secrets(const Subject& subject);
void check_config_map(const Subject& subject);  // of an object without pods
void check_gpus(const Subject& subject);
void check_resources(const Subject& subject);
void check_shared_memory(const Subject& subject);
void check_probes(const Subject& subject);
void check_runtime_probes(const Subject& subject);  // of a runtime without GPUs of its own
void check_models(const Subject& subject);
void check_checkpoints(const Subject& subject);
void check_parallel(const Subject& subject);
void check_memory(const Subject& subject);
void check_environment(const Subject& subject);
void check_node_access(const Subject& subject);
void check_object(const Subject& subject);
void check_fields(const Subject& subject);
void check_placement(const Subject& subject);

// Does this container stand beside the work, as logging agents and proxies do?
bool is_helper(const Container& container);

// The variable by which it may fetch models from Hugging Face; nullptr: it has none.
const EnvVar* hub_token(const Container& container);

// Is this container the one that serves in its pod?
bool is_server(const Subject& subject, const Pod& pod, const Container& container);

}  // namespace stoker::lint::kubernetes
