// Analyzer stage: how a container asks for GPUs.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "lint/kubernetes/quantity.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// Memory in GB of the profiles of each size that any card has, by NVIDIA's MIG guide ("Supported MIG profiles":
// A30, A100, H100, H200, GH200, B200, GB200, B300, RTX PRO 6000). A larger one may be of a card to come.
struct MigSize {
  int slices;
  std::array<int, 14> memory_gb;
};
constexpr std::array<MigSize, 5> mig_sizes = {{
    {1, {5, 6, 10, 12, 18, 20, 22, 23, 24, 34, 35, 36, 45, 47}},
    {2, {10, 12, 20, 24, 35, 36, 45, 47, 48, 67, 90}},
    {3, {20, 40, 47, 48, 71, 72, 90, 93, 135}},
    {4, {20, 24, 40, 47, 48, 71, 72, 90, 93, 96, 135}},
    {7, {40, 80, 94, 96, 141, 144, 180, 186, 269}},
}};

// Of "nvidia.com/mig-3g.20gb.me": could a card have it?
bool is_mig_resource(std::string_view resource) {
  auto name = resource.substr(std::string_view("nvidia.com/mig-").size());
  // A compute instance of a GPU instance: 1c.3g.20gb.
  if (name.size() > 3 && name[1] == 'c' && name[2] == '.') name.remove_prefix(3);
  const auto point = name.find("g.");
  const auto unit = name.find("gb", std::min(point, name.size()));
  if (point == std::string_view::npos || unit == std::string_view::npos) return false;
  const auto slices = whole_number<int>(name.substr(0, point));
  const auto memory = whole_number<int>(name.substr(point + 2, unit - point - 2));
  const auto rest = name.substr(unit + 2);
  if (!slices || !memory || (!rest.empty() && rest[0] != '.' && rest[0] != '-')) return false;
  const auto* size = std::ranges::find(mig_sizes, *slices, &MigSize::slices);
  if (size == mig_sizes.end()) return false;
  if (*memory > *std::ranges::max_element(size->memory_gb)) return true;
  return std::ranges::find(size->memory_gb, *memory) != size->memory_gb.end();
}

void check_amount(const Subject& subject, const Container& container, View key, View value) {
  const auto number = quantity_of(value.text());
  if (!number || *number == std::floor(*number)) return;
  subject.add(
      RuleId::gpu_fraction, value.place(),
      fmt::format("{} asks for {} {}", subject.name_of(container), value.text(), key.text()));
}

// The same number under limits.
void repair_limit(const Subject& subject, const Container& container, View key, View value) {
  const auto number = quantity_of(value.text());
  if (!number || *number != std::floor(*number) || subject.source.templated) return;
  const auto entry = fmt::format("{}: {}", key.text(), value.text());
  const auto rule = row_of(RuleId::gpu_requests_only).id;
  View first;
  container.limits.each_entry([&](View name, View) {
    if (!first.exists()) first = name;
  });
  if (first.exists()) {
    subject.repairs.push_back({rule, key.place(), first.place(), {entry}, entry + ", "});
    return;
  }
  if (container.limits.exists()) return;
  container.view.find("resources").each_entry([&](View name, View) {
    if (name.text() != "requests") return;
    subject.repairs.push_back({rule,
                               key.place(),
                               name.place(),
                               {"limits:", "  " + entry},
                               fmt::format("limits: {{{}}}, ", entry)});
  });
}

void check_resource(const Subject& subject, const Container& container, View key, View value,
                    bool is_limit) {
  const auto resource = key.text();
  if (!is_gpu_resource(resource)) return;
  if (resource.starts_with("nvidia.com/mig-") && !is_filled_in_later(resource) &&
      !is_mig_resource(resource)) {
    subject.add(RuleId::mig_name, key.place(),
                fmt::format("{} asks for {}, and no card has such a profile",
                            subject.name_of(container), resource));
  }
  if (is_limit || !container.limits.find(resource).exists()) {
    check_amount(subject, container, key, value);
  }
  if (is_limit) return;
  const View limit = container.limits.find(resource);
  if (!limit.exists()) {
    if (container.may_gain("resources")) return;
    subject.add(RuleId::gpu_requests_only, key.place(),
                fmt::format("{} has {}: {} in requests and not in limits",
                            subject.name_of(container), resource, value.text()));
    return repair_limit(subject, container, key, value);
  }
  const auto asked = quantity_of(value.text());
  const auto most = quantity_of(limit.text());
  if (asked && most && *asked != *most) {
    subject.add(RuleId::gpu_request_mismatch, value.place(),
                fmt::format("{} requests {} of {} with a limit of {}", subject.name_of(container),
                            value.text(), resource, limit.text()));
  }
}

std::string_view gpus_text(const Container& container) {
  return container.gpus.resource.empty() ? "GPUs by a claim" : container.gpus.resource;
}

void check_helper(const Subject& subject, const Pod& pod, const Container& container) {
  if (!container.gpus.any || !is_helper(container)) return;
  const bool others = std::ranges::any_of(pod.containers, [&](const Container& other) {
    return &other != &container && other.gpus.any && !other.init && !is_helper(other);
  });
  if (!others) return;
  subject.add(RuleId::gpu_on_sidecar, container.place(),
              fmt::format("{} asks for {} beside the container that computes",
                          subject.name_of(container), gpus_text(container)));
}

// A pod holds what its init containers ask for as long as it lives.
void check_init(const Subject& subject, const Pod& pod, const Container& container) {
  if (!container.gpus.any || !container.init || pod.row->gives == Gives::runtime) return;
  // What validates a node's GPUs takes one on purpose.
  if (subject.evidence.purpose == Purpose::system) return;
  const bool others = std::ranges::any_of(pod.containers, [&](const Container& other) {
    return !other.init &&
           (other.gpus.any || other.may_gain("resources") || !other.image.is_scalar());
  });
  if (others || pod.partial || pod.may_gain("containers")) return;
  subject.add(RuleId::gpu_on_sidecar, container.place(),
              fmt::format("{} asks for {}, ends before the work begins, and no other container "
                          "of the pod has GPUs",
                          subject.name_of(container), gpus_text(container)));
}

}  // namespace

bool is_helper(const Container& container) {
  constexpr std::array<std::string_view, 14> helpers = {
      "fluent-bit",    "fluentd",         "fluentbit",    "promtail", "vector",
      "istio-proxy",   "envoy",           "nginx",        "filebeat", "otel",
      "node-exporter", "cloud-sql-proxy", "oauth2-proxy", "busybox"};
  const auto image = container.image.text();
  return container.sidecar || std::ranges::any_of(helpers, [&](std::string_view helper) {
           return container.name == helper ||
                  image.find(fmt::format("/{}:", helper)) != std::string::npos ||
                  image.starts_with(fmt::format("{}:", helper));
         });
}

void check_gpus(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      container.limits.each_entry(
          [&](View key, View value) { check_resource(subject, container, key, value, true); });
      container.requests.each_entry(
          [&](View key, View value) { check_resource(subject, container, key, value, false); });
      check_helper(subject, pod, container);
      check_init(subject, pod, container);
    }
  }
}

}  // namespace stoker::lint::kubernetes
