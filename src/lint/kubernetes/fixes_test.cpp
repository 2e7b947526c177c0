#include "lint/kubernetes/fixes.h"

#include <gtest/gtest.h>

#include "lint/kubernetes/lint_test_support.h"

namespace stoker::lint::kubernetes {
namespace {

std::string repaired(std::string_view text) {
  const auto manifest = lint_manifest(text, "m.yaml");
  return with_edits(text, repairs_of(text, manifest));
}

std::string pod_with(std::string_view resources, std::string_view volume) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n    "
         "image: x:1\n"
         "    volumeMounts: [{name: shm, mountPath: /dev/shm}]\n    resources:\n" +
         indented(resources, 6) + "  volumes:\n  - name: shm\n" + indented(volume, 4);
}

void expect_repaired(std::string_view resources, std::string_view volume,
                     std::string_view resources_after, std::string_view volume_after) {
  const auto after = repaired(pod_with(resources, volume));
  EXPECT_EQ(after, pod_with(resources_after, volume_after));
  EXPECT_EQ(lines_of_rule(after, "gpu-requests-only"), std::vector<int>{});
  EXPECT_EQ(lines_of_rule(after, "shm-unbounded"), std::vector<int>{});
}

TEST(Fixes, a_memory_volume_gets_half_of_the_memory_limit) {
  const auto* limits = "limits: {cpu: 4, memory: 64Gi, nvidia.com/gpu: 2}\n";
  expect_repaired(limits, "emptyDir:\n  medium: Memory # fast\n", limits,
                  "emptyDir:\n  sizeLimit: 32768Mi\n  medium: Memory # fast\n");
  expect_repaired(limits, "emptyDir: {medium: Memory}\n", limits,
                  "emptyDir: {sizeLimit: 32768Mi, medium: Memory}\n");
}

TEST(Fixes, a_request_alone_becomes_a_limit) {
  const auto* volume = "emptyDir: {medium: Memory, sizeLimit: 1Gi}\n";
  expect_repaired("requests:\n  cpu: 4\n  nvidia.com/gpu: 2\n", volume,
                  "limits:\n  nvidia.com/gpu: 2\nrequests:\n  cpu: 4\n  nvidia.com/gpu: 2\n",
                  volume);
  expect_repaired("requests:\n  nvidia.com/gpu: 2\nlimits:\n  memory: 8Gi\n", volume,
                  "requests:\n  nvidia.com/gpu: 2\nlimits:\n  nvidia.com/gpu: 2\n  memory: 8Gi\n",
                  volume);
  expect_repaired("requests: {nvidia.com/gpu: 2}\nlimits: {memory: 8Gi}\n", volume,
                  "requests: {nvidia.com/gpu: 2}\nlimits: {nvidia.com/gpu: 2, memory: 8Gi}\n",
                  volume);
}

TEST(Fixes, where_the_manifest_does_not_tell_nothing_is_invented) {
  const auto text = pod_with("limits: {nvidia.com/gpu: 2}\n", "emptyDir: {medium: Memory}\n");
  EXPECT_EQ(repaired(text), text);
}

}  // namespace
}  // namespace stoker::lint::kubernetes
