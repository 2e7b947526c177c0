#include "lint/kubernetes/claims.h"

#include <algorithm>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// NVIDIA's device classes: https://github.com/NVIDIA/k8s-dra-driver-gpu deployments/helm (deviceclass-gpu.yaml,
// deviceclass-mig.yaml).
bool is_whole_gpu(std::string_view device_class) { return device_class == "gpu.nvidia.com"; }
bool is_gpu_class(std::string_view device_class) {
  return is_whole_gpu(device_class) || device_class == "mig.nvidia.com";
}

// Adds what one request of a claim asks for. Fields stand in the request itself in v1beta1, in `exactly` since v1beta2.
void add_request(View request, Gpus& gpus) {
  const View exactly = request.find("exactly").is_map() ? request.find("exactly") : request;
  bool any = is_gpu_class(exactly.find("deviceClassName").text());
  bool whole = is_whole_gpu(exactly.find("deviceClassName").text());
  request.find("firstAvailable").each_item([&](View one) {
    any = any || is_gpu_class(one.find("deviceClassName").text());
    whole = false;
  });
  if (!any) return;
  const auto mode = exactly.find("allocationMode").text();
  const View count = exactly.find("count");
  const auto number = count.is_null() ? std::optional<int>(1) : whole_number<int>(count.text());
  const bool known = whole && (mode.empty() || mode == "ExactCount") && number && *number < 1024;
  const int before = gpus.any ? gpus.count.value_or(-1) : 0;
  gpus.any = true;
  gpus.count = known && before >= 0 ? std::optional<int>(before + *number) : std::nullopt;
}

// The claim's spec among `claims`, by the entry of spec.resourceClaims; nothing: it is not in the file.
View claim_named(View entry, std::span<const View> claims) {
  View name = entry.find("resourceClaimTemplateName");
  const bool is_template = name.exists();
  if (!is_template) name = entry.find("resourceClaimName");
  const auto found = std::ranges::find_if(claims, [&](const View& object) {
    return (object.find("kind").text() == "ResourceClaimTemplate") == is_template &&
           object.at("metadata.name").text() == name.text();
  });
  if (found == claims.end()) return {};
  return found->at(is_template ? "spec.spec" : "spec");
}

bool names_gpus(std::string_view name) { return name.find("gpu") != std::string_view::npos; }

void add_claim(View claim, View spec, std::span<const View> claims, Gpus& gpus) {
  const auto name = claim.find("name").text();
  View entry;
  spec.find("resourceClaims").each_item([&](View one) {
    if (one.find("name").text() == name) entry = one;
  });
  const View found = claim_named(entry, claims);
  if (!found.exists()) {
    if (!names_gpus(name)) return;
    gpus.any = true;
    gpus.count.reset();
    return;
  }
  const auto wanted = claim.find("request").text();
  found.at("devices.requests").each_item([&](View request) {
    if (wanted.empty() || request.find("name").text() == wanted) add_request(request, gpus);
  });
}

}  // namespace

bool is_claim(View object) {
  const auto kind = object.find("kind").text();
  return group_of(object.find("apiVersion").text()) == "resource.k8s.io" &&
         (kind == "ResourceClaim" || kind == "ResourceClaimTemplate");
}

Gpus gpus_claimed(View spec, View resources, std::span<const View> claims) {
  Gpus gpus;
  resources.find("claims").each_item([&](View claim) { add_claim(claim, spec, claims, gpus); });
  return gpus;
}

}  // namespace stoker::lint::kubernetes
