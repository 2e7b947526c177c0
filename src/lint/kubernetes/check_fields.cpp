// Analyzer stage: fields at the wrong place, and numbers where Kubernetes wants text.
#include <algorithm>
#include <array>
#include <charconv>

#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// Fields of a Container that a PodSpec has not, and the other way round
// (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/).
constexpr std::array<std::string_view, 11> container_fields = {
    "image",        "command",       "args",           "env",          "envFrom",        "ports",
    "volumeMounts", "livenessProbe", "readinessProbe", "startupProbe", "imagePullPolicy"};
constexpr std::array<std::string_view, 11> pod_fields = {"nodeSelector",
                                                         "tolerations",
                                                         "volumes",
                                                         "affinity",
                                                         "runtimeClassName",
                                                         "serviceAccountName",
                                                         "hostIPC",
                                                         "hostNetwork",
                                                         "schedulerName",
                                                         "priorityClassName",
                                                         "terminationGracePeriodSeconds"};

// Would YAML 1.1, which kubectl reads, take this plain word for a number or boolean?
bool is_number_or_flag(View value) {
  if (!value.is_scalar() || value.is_quoted() || value.is_null()) return false;
  const auto text = value.text();
  constexpr std::array<std::string_view, 18> flags = {
      "true", "True", "TRUE", "false", "False", "FALSE", "yes", "Yes", "YES",
      "no",   "No",   "NO",   "on",    "On",    "ON",    "off", "Off", "OFF"};
  if (std::ranges::find(flags, text) != flags.end()) return true;
  auto digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
  double number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return code == std::errc{} && end == digits.data() + digits.size();
}

void check_texts(const Subject& subject, View map, std::string_view what) {
  map.each_entry([&](View key, View value) {
    if (!is_number_or_flag(value)) return;
    subject.add(RuleId::value_not_text, value.place(),
                fmt::format("{} {} of {} is {}, which is no text", what, key.text(), subject.name(),
                            value.text()));
  });
}

void check_container(const Subject& subject, const Container& container) {
  for (const EnvVar& variable : container.env) {
    if (!is_number_or_flag(variable.value)) continue;
    subject.add(RuleId::value_not_text, variable.value.place(),
                fmt::format("variable {} of {} is {}, which is no text", variable.name,
                            subject.name_of(container), variable.value.text()));
  }
  container.view.each_entry([&](View key, View) {
    if (std::ranges::find(pod_fields, key.text()) == pod_fields.end()) return;
    subject.add(
        RuleId::field_misplaced, key.place(),
        fmt::format("{} of {} belongs to the pod's spec", key.text(), subject.name_of(container)));
  });
}

void check_spec(const Subject& subject, const Pod& pod) {
  if (pod.row->form != Form::pod_template || pod.row->gives == Gives::runtime) return;
  pod.spec.each_entry([&](View key, View value) {
    if (std::ranges::find(container_fields, key.text()) == container_fields.end()) return;
    subject.add(RuleId::field_misplaced, key.place(),
                fmt::format("{} of {} belongs to a container", key.text(), subject.name()));
    (void)value;
  });
}

}  // namespace

void check_fields(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    if (!pod.has_gpus()) continue;
    check_spec(subject, pod);
    check_texts(subject, pod.spec.find("nodeSelector"), "nodeSelector");
    check_texts(subject, pod.metadata.find("labels"), "label");
    check_texts(subject, pod.metadata.find("annotations"), "annotation");
    for (const Container& container : pod.containers) check_container(subject, container);
  }
}

}  // namespace stoker::lint::kubernetes
