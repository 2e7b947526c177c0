// GPUs by claims of dynamic resource allocation.
#include "lint/kubernetes/claims.h"

#include <gtest/gtest.h>

#include "lint/kubernetes/lint_test_support.h"

namespace stoker::lint::kubernetes {
namespace {

const std::string claiming =
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n"
    "  resourceClaims: [{name: card, resourceClaimTemplateName: cards}]\n  containers:\n"
    "  - name: a\n    image: example.com/x:1\n    command: [vllm, serve, /m, -tp, \"4\"]\n"
    "    resources: {limits: {memory: 1Gi, cpu: 1}, claims: [{name: card}]}\n";

std::string claim_of(std::string_view request) {
  return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: cards}\n"
         "spec: {spec: {devices: {requests: [" +
         std::string(request) + "]}}}\n";
}

std::vector<int> too_many(std::string_view request) {
  return lines_of_rule(claim_of(request) + claiming, "parallel-above-gpus");
}

TEST(Claims, of_gpus_are_counted_by_the_claims_of_the_file) {
  EXPECT_EQ(too_many("{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}").size(), 1U);
  EXPECT_EQ(too_many("{name: g, deviceClassName: gpu.nvidia.com}").size(), 1U);
  EXPECT_EQ(too_many("{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 4}}").size(), 0U);
}

TEST(Claims, of_parts_of_gpus_and_of_all_have_no_count) {
  EXPECT_EQ(too_many("{name: g, exactly: {deviceClassName: mig.nvidia.com}}").size(), 0U);
  EXPECT_EQ(too_many("{name: g, deviceClassName: gpu.nvidia.com, allocationMode: All}").size(), 0U);
  EXPECT_EQ(
      too_many("{name: g, firstAvailable: [{name: a, deviceClassName: gpu.nvidia.com}]}").size(),
      0U);
}

TEST(Claims, make_gpu_work_whatever_they_are_called) {
  const auto request = claim_of("{name: g, deviceClassName: gpu.nvidia.com}");
  std::string bare = claiming;
  bare.replace(bare.find("limits: {memory: 1Gi, cpu: 1}, "), 31, "");
  EXPECT_EQ(lines_of_rule(request + bare, "memory-limit-missing").size(), 1U);
  // Of another device, or one that is not in the file, nothing is known.
  EXPECT_EQ(lines_of_rule(claim_of("{name: g, deviceClassName: nic.example.com}") + bare,
                          "memory-limit-missing")
                .size(),
            0U);
  EXPECT_EQ(lines_of_rule(bare, "memory-limit-missing").size(), 0U);
}

}  // namespace
}  // namespace stoker::lint::kubernetes
