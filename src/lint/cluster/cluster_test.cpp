#include "lint/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lint/cluster/cluster_test_support.h"
#include "lint/cluster/image_cuda.h"

namespace stoker::lint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Told = std::vector<std::string>;

Told told(const std::vector<NodeText>& nodes, const std::vector<PodText>& pods,
          std::string_view rule = {}) {
  return told_of_cluster(facts_of(nodes, pods), rule);
}

NodeText gpu_node(std::string name = "gpu-1") { return {.name = std::move(name)}; }
NodeText cpu_node() { return {.name = "cpu-1", .gpus = 0, .labels = "", .taints = ""}; }

TEST(Cluster, AHealthyOneHasNothingWrong) {
  EXPECT_THAT(
      told({gpu_node(), cpu_node()}, {{.name = "train", .node = "gpu-1", .gpus = 4, .cpu = "32"},
                                      {.name = "web", .node = "cpu-1"}}),
      IsEmpty());
}

TEST(Cluster, NothingIsSaidOfWhatWasNotSeen) {
  auto facts = facts_of({{.taints = ""}, cpu_node()}, {{.node = "gpu-1"}});
  facts.seen = {};
  EXPECT_THAT(lint_cluster(facts, "test", noon), IsEmpty());
  facts.seen.nodes = true;  // and no pods
  EXPECT_THAT(lint_cluster(facts, "test", noon), IsEmpty());
}

TEST(Cluster, PodsWithoutGpusOnAnOpenGpuNodeAreTold) {
  NodeText open = gpu_node();
  open.taints = "";
  const std::vector<PodText> web = {
      {.name = "web", .node = "gpu-1", .cpu = "16", .memory = "16Gi"}};
  EXPECT_THAT(told({open, cpu_node()}, web),
              ElementsAre("cpu-pods-on-gpu-node: 16 CPUs and 16 GiB of node gpu-1, which no taint "
                          "keeps free, are asked for by 1 pod without GPUs"));
  const std::vector<PodText> small = {{.name = "web", .node = "gpu-1", .cpu = "1"}};
  EXPECT_THAT(told({open, cpu_node()}, small), IsEmpty()) << "less than a GPU's share of the node";
  EXPECT_EQ(told({open, cpu_node()}, small, "cpu-pods-on-gpu-node").size(), 1U);
  EXPECT_THAT(told({open}, web), IsEmpty()) << "they have no other node";
  EXPECT_THAT(told({gpu_node(), cpu_node()}, web), IsEmpty())
      << "who tolerates the taint was let in";
  EXPECT_THAT(told({open, cpu_node()}, {{.node = "gpu-1", .owner = "DaemonSet/log"}}), IsEmpty());
  EXPECT_THAT(told({open, cpu_node()}, {}, "gpu-node-untainted"),
              ElementsAre("gpu-node-untainted: no taint keeps other pods off 1 GPU node: gpu-1"));
}

TEST(Cluster, UnhealthyAndMissingGpusAreTold) {
  NodeText node = gpu_node();
  node.usable = 7;
  EXPECT_THAT(
      told({node}, {}),
      ElementsAre("gpu-unhealthy: node gpu-1 has 8 nvidia.com/gpu, of which 7 can be given out"));
  node = gpu_node();
  node.gpus = 7;
  node.labels += R"(,"nvidia.com/gpu.count":"8","nvidia.com/gpu.replicas":"1")";
  EXPECT_THAT(
      told({node}, {}),
      ElementsAre("gpu-count-differs: node gpu-1 offers 7 GPUs, and its labels count 8 GPUs"));
  NodeText none = node;
  none.gpus = -1;
  EXPECT_THAT(
      told({none}, {}, "gpu-count-differs"),
      ElementsAre("gpu-count-differs: node gpu-1 offers 0 GPUs, and its labels count 8 GPUs"));
  node.labels += R"(,"nvidia.com/mig.strategy":"single")";
  EXPECT_THAT(told({node}, {}), IsEmpty()) << "MIG counts otherwise";
  node = gpu_node();
  node.labels += R"(,"nvidia.com/gpu.count":"2","nvidia.com/gpu.replicas":"4")";
  EXPECT_THAT(told({node}, {}), IsEmpty()) << "2 cards of 4 shares are 8";
}

TEST(Cluster, SharedGpusAreTold) {
  NodeText node = gpu_node();
  node.labels +=
      R"(,"nvidia.com/gpu.sharing-strategy":"time-slicing","nvidia.com/gpu.replicas":"4")";
  EXPECT_THAT(
      told({node}, {}, "gpu-time-sliced"),
      ElementsAre(
          "gpu-time-sliced: GPUs are shared by time-slicing on 1 node: gpu-1 (4 shares a GPU)"));
  EXPECT_THAT(told({node}, {{.node = "gpu-1", .gpus = 2}}),
              ElementsAre("gpu-shared-several: pod p has 2 shares of node gpu-1, whose GPUs are "
                          "shared by time-slicing"));
  EXPECT_THAT(told({node}, {{.node = "gpu-1", .gpus = 1}}), IsEmpty());
  node.labels = R"("nvidia.com/gpu.product":"Tesla-T4","nvidia.com/gpu.sharing-strategy":"mps")";
  EXPECT_THAT(told({node}, {{.node = "gpu-1", .gpus = 2}}), IsEmpty())
      << "MPS has limits of memory";
}

TEST(Cluster, FreeGpusBesideUsedUpCpuAreTold) {
  const PodText greedy{.name = "greedy", .node = "gpu-1", .gpus = 4, .cpu = "90", .memory = "64Gi"};
  EXPECT_THAT(
      told({gpu_node()}, {greedy, {.name = "waits", .gpus = 2, .cpu = "16", .memory = "64Gi"}}),
      ElementsAre("gpus-stranded: 4 of 8 GPUs of node gpu-1 are free, beside 6 CPUs and 960 GiB; "
                  "pod ml/waits waits for 2 GPUs, 16 CPUs and 64 GiB"));
  EXPECT_THAT(
      told({gpu_node()}, {greedy, {.name = "waits", .gpus = 2, .cpu = "16", .minutes = 5}}),
      ElementsAre("gpus-stranded: 4 of 8 GPUs of node gpu-1 are free, beside 6 CPUs and 960 GiB; "
                  "the smallest pod with GPUs here asks for 2 GPUs, 16 CPUs and 1 GiB"));
  EXPECT_THAT(
      told({gpu_node()}, {greedy, {.name = "small", .node = "gpu-1", .gpus = 1, .cpu = "1"}}),
      IsEmpty())
      << "another small one would fit";
  EXPECT_THAT(told({gpu_node()}, {greedy, {.name = "big", .gpus = 8, .cpu = "90", .minutes = 20}}),
              ElementsAre(testing::HasSubstr("asks for 4 GPUs, 90 CPUs and 64 GiB")))
      << "4 are free, and whoever is like the greedy one does not fit";
}

TEST(Cluster, SharesOfCardsAreNotStranded) {
  NodeText node = gpu_node();
  node.labels += R"(,"nvidia.com/gpu.replicas":"4","nvidia.com/gpu.sharing-strategy":"mps")";
  EXPECT_THAT(told({node}, {{.name = "greedy", .node = "gpu-1", .gpus = 1, .cpu = "90"}}),
              IsEmpty());
}

TEST(Cluster, PodsThatMayNotGoToTheNodeStrandNothing) {
  const PodText greedy{
      .name = "greedy",
      .node = "gpu-1",
      .gpus = 4,
      .cpu = "90",
      .more =
          R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}})"};
  const PodText elsewhere{
      .name = "w", .gpus = 1, .cpu = "20", .selector = R"("zone":"b")", .minutes = 1};
  EXPECT_THAT(told({gpu_node()}, {greedy, elsewhere}), IsEmpty());
}

const std::string lws =
    R"("leaderworkerset.sigs.k8s.io/name":"g","leaderworkerset.sigs.k8s.io/group-index":"0")";

TEST(Cluster, AGangThatHoldsGpusAndWaitsIsTold) {
  const PodText runs{
      .name = "g-0", .node = "gpu-1", .gpus = 8, .labels = lws, .owner = "StatefulSet/g"};
  PodText waits{.name = "g-1", .gpus = 8, .labels = lws, .owner = "StatefulSet/g-0", .minutes = 50};
  EXPECT_THAT(
      told({gpu_node()}, {runs, waits}, "gang-half-started"),
      ElementsAre("gang-half-started: 1 of 2 pods run, the first since 1 h 0 min, and hold 8 "
                  "GPUs; 1 find no node"));
  waits.minutes = 10;
  EXPECT_THAT(told({gpu_node()}, {runs, waits}, "gang-half-started"), IsEmpty())
      << "a node may be on its way";
  waits.minutes = 50;
  waits.labels =
      R"("leaderworkerset.sigs.k8s.io/name":"g","leaderworkerset.sigs.k8s.io/group-index":"1")";
  EXPECT_THAT(told({gpu_node()}, {runs, waits}, "gang-half-started"), IsEmpty())
      << "another group of it";
}

TEST(Cluster, AnElasticJobIsNoGang) {
  const std::string labels = R"("training.kubeflow.org/job-name":"j")";
  const std::string env = R"({"name":"PET_NNODES","value":"1:4"})";
  EXPECT_THAT(told({gpu_node()},
                   {{.name = "j-0", .node = "gpu-1", .gpus = 8, .labels = labels, .env = env},
                    {.name = "j-1", .gpus = 8, .labels = labels, .env = env}},
                   "gang-half-started"),
              IsEmpty());
}

TEST(Cluster, PodsThatWaitForWhatNoNodeHasAreTold) {
  EXPECT_THAT(
      told({gpu_node()}, {{.gpus = 1, .selector = R"("nvidia.com/gpu.product":"NVIDIA-A100")"}}),
      ElementsAre("node-selector-unmatched: pod p waits since 1 h 0 min for a node with "
                  "nvidia.com/gpu.product=NVIDIA-A100"));
  EXPECT_THAT(
      told({gpu_node()}, {{.gpus = 16}}),
      ElementsAre("gpu-request-unmet: pod p waits since 1 h 0 min for 16 nvidia.com/gpu on one "
                  "node, and none has more than 8"));
  EXPECT_THAT(told({gpu_node()}, {{.gpus = 16, .minutes = 3}}), IsEmpty());
}

TEST(Cluster, ASelectorThatNoNodeMeetsIsTold) {
  const auto with_selector = [](const std::string& selector) {
    auto facts = facts_of({gpu_node()}, {});
    const std::string json =
        R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"ml"},"spec":{"template":{"spec":{"nodeSelector":{)" +
        selector +
        R"(},"containers":[{"name":"c","image":"x:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})";
    facts.add_workload(yaml::Document::parse({json, 1}, "job")->root());
    return told_of_cluster(facts, "gpu-selector-unknown");
  };
  EXPECT_THAT(with_selector(R"("nvidia.com/gpu.product":"NVIDIA-H100")"),
              ElementsAre("gpu-selector-unknown: it selects nodes with "
                          "nvidia.com/gpu.product=NVIDIA-H100, and none has it now"));
  EXPECT_THAT(with_selector(R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3")"), IsEmpty());
  EXPECT_THAT(with_selector(R"("nvidia.com/gpu.family":"hopper")"), IsEmpty())
      << "no node has such a label";
  EXPECT_THAT(with_selector(R"("zone":"b")"), IsEmpty()) << "an autoscaler's business";
}

TEST(Cluster, AGpuNodeWithoutExporterAndAlertsIsTold) {
  ClusterFacts facts;
  facts.seen = {.nodes = true, .pods = true, .alerts = true};
  const std::string json = node_json(gpu_node());
  const auto document = yaml::Document::parse({json, 1}, "node");
  facts.add_node(document->root());
  facts.add_alerts("{\"data\":{\"a\":\"groups: [{rules: [{alert: X, expr: up}]}]\"}}", true);
  facts.add_alerts("{\"data\":{\"a\":\"nothing\"}}", true);
  facts.add_alerts("{\"data\":{\"a\":\"groups: [{rules: [{alert: Y, expr: maxid > 1}]}]\"}}", true);
  EXPECT_THAT(
      told_of_cluster(facts),
      ElementsAre(
          "exporter-missing: no exporter of GPU metrics runs as a pod on 1 of 1 GPU node: gpu-1",
          "xid-alert-missing: none of 2 objects with alert rules asks for Xids"));
  facts.seen.alerts = false;
  EXPECT_THAT(told_of_cluster(facts, "xid-alert-missing"), IsEmpty())
      << "not all of them were seen";
}

TEST(Cluster, AnImageAboveTheDriverIsTold) {
  NodeText node = gpu_node();
  node.labels =
      R"("nvidia.com/gpu.product":"NVIDIA-GeForce-RTX-3090","nvidia.com/cuda.driver.major":"470")";
  const PodText pod{.node = "gpu-1", .gpus = 1, .image = "nvidia/cuda:12.4.1-base-ubuntu22.04"};
  EXPECT_THAT(
      told({node}, {pod}),
      ElementsAre("cuda-above-driver: image nvidia/cuda:12.4.1-base-ubuntu22.04 has CUDA 12, "
                  "which needs driver 525 or later; node gpu-1 has 470"));
  node.labels =
      R"("nvidia.com/gpu.product":"NVIDIA-H100","nvidia.com/cuda.driver-version.major":"470")";
  EXPECT_THAT(told({node}, {pod}), IsEmpty()) << "the image may have cuda-compat";
  EXPECT_EQ(told({node}, {pod}, "cuda-needs-compat").size(), 1U);
  node.labels =
      R"("nvidia.com/gpu.product":"NVIDIA-GeForce-RTX-3090","nvidia.com/cuda.driver.major":"535")";
  EXPECT_THAT(told({node}, {pod}), IsEmpty()) << "12.4 runs on 535 by minor version compatibility";
}

TEST(ImageCuda, IsReadFromNamesThatSayIt) {
  EXPECT_EQ(cuda_major_of_image("nvcr.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04"), 12);
  EXPECT_EQ(cuda_major_of_image("pytorch/pytorch:2.4.0-cuda11.8-cudnn9-runtime"), 11);
  EXPECT_EQ(cuda_major_of_image("reg:5000/x/y:0.4-cu130@sha256:abc"), 13);
  EXPECT_EQ(cuda_major_of_image("x/y:cuda12"), 12);
  for (const char* none : {"example.com/work:1.2", "vllm/vllm-openai:v0.6", "x/cuda-samples:12.4",
                           "x/y:cu1", "reg:5000/cuda", "x/y:accu124x", "nvidia/cuda:latest",
                           "nvcr.io/nvidia/pytorch:24.05-py3"}) {
    EXPECT_EQ(cuda_major_of_image(none), std::nullopt) << none;
  }
}

TEST(BesideThePoint, AreSelectorsAndTolerationsThatTheClusterDoesNotNeed) {
  Finding selector;
  selector.rule = "gpu-selector-missing";
  Finding toleration;
  toleration.rule = "gpu-toleration-missing";
  const auto one = facts_of({gpu_node()}, {});
  EXPECT_TRUE(is_beside_the_point(one, selector));
  EXPECT_FALSE(is_beside_the_point(one, toleration));
  NodeText other = gpu_node("gpu-2");
  other.labels = R"("nvidia.com/gpu.product":"NVIDIA-A100")";
  other.taints = "";
  EXPECT_FALSE(is_beside_the_point(facts_of({gpu_node(), other}, {}), selector));
  EXPECT_TRUE(is_beside_the_point(facts_of({other}, {}), toleration));
}

}  // namespace
}  // namespace stoker::lint
