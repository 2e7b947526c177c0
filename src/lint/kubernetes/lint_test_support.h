// Test support: a manifest as text, and what the linter says of it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lint/kubernetes/lint.h"

namespace stoker::lint::kubernetes {

// "rule:line" of every finding of at least warning; or of all.
inline std::vector<std::string> told(std::string_view text, Severity least = Severity::warning) {
  std::vector<std::string> out;
  for (const auto& finding : lint_manifest(text, "m.yaml").findings) {
    if (finding.severity >= least)
      out.push_back(finding.rule + ":" + std::to_string(finding.location->line));
  }
  return out;
}

// The lines at which `rule` is told.
inline std::vector<int> lines_of_rule(std::string_view text, std::string_view rule) {
  std::vector<int> lines;
  for (const auto& finding : lint_manifest(text, "m.yaml").findings) {
    if (finding.rule == rule) lines.push_back(finding.location->line);
  }
  return lines;
}

inline std::string indented(std::string_view text, std::size_t blanks) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) out += std::string(blanks, ' ') + std::string(text.substr(0, end));
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// A pod spec with one container of `gpus` GPUs and all that a careful owner gives it; `container` and `spec` are lines
// more of each.
inline std::string pod_spec(int gpus, std::string_view container = {}, std::string_view spec = {}) {
  return "containers:\n- name: main\n  image: example.com/work:1.2\n" + indented(container, 2) +
         "  resources:\n    requests: {cpu: \"8\"}\n    limits: {memory: 64Gi, nvidia.com/gpu: " +
         std::to_string(gpus) + "}\n" + indented(spec, 0);
}

// An object of `kind` with `spec` as its pod template.
inline std::string object_of(std::string_view api, std::string_view kind, std::string_view spec) {
  return "apiVersion: " + std::string(api) + "\nkind: " + std::string(kind) +
         "\nmetadata: {name: x}\nspec:\n  selector: {matchLabels: {app: x}}\n  template:\n    "
         "metadata: {labels: {app: x}}\n"
         "    spec:\n" +
         indented(spec, 6);
}

inline std::string deployment(std::string_view spec) {
  return object_of("apps/v1", "Deployment", spec);
}
inline std::string job(std::string_view spec) {
  return object_of("batch/v1", "Job", std::string(spec) + "\nrestartPolicy: Never\n");
}

// Mounts a bounded /dev/shm.
inline constexpr std::string_view shm_mount = "volumeMounts: [{name: shm, mountPath: /dev/shm}]\n";
inline constexpr std::string_view shm_volume =
    "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]\n";

}  // namespace stoker::lint::kubernetes
