// Every rule fires on what it is about, at the line where a reader looks for it.
#include "lint/kubernetes/rules.h"

#include <gtest/gtest.h>

#include <set>

#include "lint/kubernetes/lint_test_support.h"

namespace stoker::lint::kubernetes {
namespace {

const std::string serve = "command: [vllm, serve, /models/m, --tensor-parallel-size, \"1\"]\n";
const std::string ready = "readinessProbe: {httpGet: {path: /health, port: 8000}}\n";
const std::string models =
    "volumes: [{name: m, persistentVolumeClaim: {claimName: m}}, {name: shm, emptyDir: {medium: "
    "Memory, sizeLimit: 8Gi}}]\n";
const std::string mounts =
    "volumeMounts: [{name: m, mountPath: /models}, {name: shm, mountPath: /dev/shm}]\n";

// A server with nothing wrong, and `container` more.
std::string server(std::string_view container = {}, std::string_view spec = {}) {
  return deployment(
      pod_spec(1, serve + ready + mounts + std::string(container), models + std::string(spec)));
}

// Where `text` stands in `manifest`, as a line.
int line_with(std::string_view manifest, std::string_view text) {
  const auto at = manifest.find(text);
  return 1 + static_cast<int>(std::count(manifest.begin(),
                                         manifest.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

// A server of `model` on `gpus` GPUs, which keeps what it fetches.
std::string serving(const std::string& model, int gpus, std::string_view spec) {
  return deployment(pod_spec(gpus,
                             "command: [vllm, serve, " + model + ", -tp, \"" +
                                 std::to_string(gpus) + "\"]\n" + ready +
                                 "volumeMounts: [{name: m, mountPath: /root/.cache/huggingface}, "
                                 "{name: shm, mountPath: /dev/shm}]\n",
                             models + std::string(spec)));
}

struct Case {
  std::string_view rule;
  std::string manifest;
  std::string_view at;  // a piece of the line at which it is told
};

std::vector<Case> gpu_cases() {
  return {
      {"gpu-requests-only",
       replaced(replaced(server(), ", nvidia.com/gpu: 1", ""), "cpu: \"8\"",
                "cpu: \"8\", nvidia.com/gpu: 1"),
       "nvidia.com/gpu: 1"},
      {"gpu-request-mismatch", replaced(server(), "cpu: \"8\"", "cpu: \"8\", nvidia.com/gpu: 2"),
       "nvidia.com/gpu: 2"},
      {"gpu-fraction", replaced(server(), "nvidia.com/gpu: 1", "nvidia.com/gpu: 0.5"), "gpu: 0.5"},
      {"mig-name", replaced(server(), "nvidia.com/gpu: 1", "nvidia.com/mig-5g.40gb: 1"), "mig-5g"},
      {"mig-name", replaced(server(), "nvidia.com/gpu: 1", "nvidia.com/mig-3g.10gb: 1"), "mig-3g"},
      {"gpu-on-sidecar",
       replaced(server(), "containers:\n",
                "containers:\n      - {name: fluent-bit, image: \"fluent-bit:3.0\", resources: "
                "{requests: {cpu: 1}, limits: {memory: 1Gi, nvidia.com/gpu: 1}}}\n"),
       "name: fluent-bit"},
      {"visible-devices-by-hand", server("env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n"),
       "NVIDIA_VISIBLE"},
      {"cuda-devices-beyond", server("env: [{name: CUDA_VISIBLE_DEVICES, value: \"0,1\"}]\n"),
       "CUDA_VISIBLE"},
      {"memory-limit-missing", replaced(server(), "memory: 64Gi, ", ""), "name: main"},
      {"cpu-request-missing", replaced(server(), "requests: {cpu: \"8\"}", "requests: {}"),
       "name: main"},
      {"privileged", server("securityContext:\n  privileged: true\n"), "privileged: true"},
      {"host-path",
       replaced(server(), "persistentVolumeClaim: {claimName: m}", "hostPath: {path: /data}"),
       "hostPath"},
      {"gpu-selector-missing", server(), "name: main"},
      {"gpu-toleration-missing", server(), "name: main"},
      {"gpu-on-sidecar",
       replaced(
           replaced(server(), ", nvidia.com/gpu: 1", ""), "      containers:\n",
           "      initContainers:\n      - {name: build, image: \"x/y:1\", resources: {requests: "
           "{cpu: 1}, limits: {memory: 1Gi, nvidia.com/gpu: 1}}}\n      containers:\n"),
       "name: build"},
      {"gpu-held-by-monitor",
       object_of("apps/v1", "DaemonSet",
                 "containers: [{name: exporter, image: \"nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3\", "
                 "resources: {limits: {nvidia.com/gpu: 1}}}]\n"),
       "name: exporter"},
      {"privileged",
       job("containers:\n- name: a\n  image: example.com/nccl-tests:1\n  securityContext:\n    "
           "privileged: true\n  volumeMounts: [{name: shm, mountPath: /dev/shm}]\n  resources: "
           "{limits: {nvidia.com/gpu: 8}}\n" +
           std::string(shm_volume)),
       "privileged: true"},
      {"host-path",
       job("containers:\n- name: a\n  image: x/y:1\n  command: [nvidia-smi]\n  volumeMounts: "
           "[{name: r, mountPath: /host}]\n  resources: {limits: {nvidia.com/gpu: 1}}\n"
           "volumes:\n- name: r\n  hostPath:\n    path: /\n"),
       "hostPath:"},
      {"debug-left", server("env:\n- {name: NCCL_DEBUG, value: INFO}\n"), "NCCL_DEBUG"},
      {"debug-left", server("env:\n- {name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}\n"),
       "TORCH_DISTRIBUTED_DEBUG"},
  };
}

// Its operator starts four processes in each pod of one GPU.
std::string pytorch_job() {
  return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}\nspec:\n"
         "  nprocPerNode: \"4\"\n  pytorchReplicaSpecs:\n    Worker:\n      template:\n"
         "        spec:\n" +
         indented(pod_spec(1,
                           "command: [torchrun, a.py]\nvolumeMounts: [{name: s, mountPath: "
                           "/dev/shm}, {name: c, mountPath: /c}]\n",
                           "volumes: [{name: s, emptyDir: {medium: Memory, sizeLimit: 8Gi}}, "
                           "{name: c, persistentVolumeClaim: {claimName: c}}]\n"),
                  10);
}

std::vector<Case> memory_cases() {
  const auto two = replaced(replaced(server(), "nvidia.com/gpu: 1", "nvidia.com/gpu: 2"),
                            "--tensor-parallel-size, \"1\"", "--tensor-parallel-size, \"2\"");
  return {
      {"shm-missing", replaced(two, ", {name: shm, mountPath: /dev/shm}", ""), "name: main"},
      {"shm-unbounded", replaced(two, ", sizeLimit: 8Gi", ""), "medium: Memory"},
      {"shm-small", replaced(two, "sizeLimit: 8Gi", "sizeLimit: 64Mi"), "sizeLimit: 64Mi"},
      {"shm-above-limit", replaced(two, "sizeLimit: 8Gi", "sizeLimit: 64Gi"), "sizeLimit: 64Gi"},
      {"parallel-above-gpus", replaced(two, "parallel-size, \"2\"", "parallel-size, \"4\""),
       "vllm, serve"},
      {"parallel-below-gpus", replaced(two, "parallel-size, \"2\"", "parallel-size, \"1\""),
       "vllm, serve"},
      // What launchers and servers do where they are told nothing, or count otherwise.
      {"parallel-above-gpus",
       replaced(two, "vllm, serve, /models/m, --tensor-parallel-size, \"2\"",
                "accelerate, launch, --num_processes, \"8\", --num_machines=2, a.py"),
       "accelerate"},
      {"parallel-below-gpus",
       replaced(two, "vllm, serve, /models/m, --tensor-parallel-size, \"2\"", "torchrun, a.py"),
       "torchrun"},
      {"parallel-above-gpus",
       replaced(two, "vllm, serve, /models/m, --tensor-parallel-size, \"2\"",
                "deepspeed, --num_gpus=4, a.py"),
       "deepspeed"},
      {"parallel-below-gpus",
       replaced(two, "vllm, serve, /models/m, --tensor-parallel-size, \"2\"",
                "python, -m, sglang.launch_server, --model-path, /models/m"),
       "sglang"},
      {"parallel-above-gpus",
       replaced(two, "vllm, serve, /models/m, --tensor-parallel-size, \"2\"",
                "trtllm-serve, /models/m, --tp_size, \"8\""),
       "trtllm-serve"},
      {"parallel-below-gpus",
       replaced(replaced(two, "example.com/work:1.2", "vllm/vllm-openai:v0.10.0"),
                "command: [vllm, serve, /models/m, --tensor-parallel-size, \"2\"]",
                "args: [--model, /models/m]"),
       "args:"},
      {"parallel-above-gpus",
       "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: x}\nspec:\n  workerGroupSpecs:\n"
       "  - groupName: g\n    rayStartParams: {num-gpus: \"8\"}\n    template:\n      spec:\n" +
           indented(pod_spec(4), 8),
       "num-gpus"},
      {"parallel-above-gpus", pytorch_job(), "nprocPerNode"},
      {"model-too-large",
       serving("meta-llama/Llama-3.1-70B-Instruct", 1,
               "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n"),
       "command:"},
      {"model-too-large",
       serving("meta-llama/Llama-3.1-8B, --max-model-len=131072", 1,
               "nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}\n"),
       "command:"},
      {"model-too-large",
       replaced(serving("Qwen/Qwen2.5-7B-Instruct", 1, ""), "nvidia.com/gpu: 1",
                "nvidia.com/mig-1g.10gb: 1"),
       "command:"},
      {"memory-share",
       replaced(two, "serve, /models/m", "serve, /models/m, --gpu-memory-utilization=90"),
       "vllm, serve"},
      {"model-cache-missing",
       replaced(replaced(server(), "/models/m", "google/gemma-2-9b"),
                "{name: m, mountPath: /models}, ", ""),
       "name: main"},
      {"model-cache-missing",
       "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: x}\n"
       "spec:\n  model:\n    uri: hf://org/model\n  template:\n" +
           indented(pod_spec(1), 4),
       "uri: hf"},
      {"model-cache-missing",
       deployment(
           pod_spec(1,
                    "command: [vllm, serve, org/model]\n" + ready +
                        "volumeMounts: [{name: m, mountPath: /root/.cache}]\n",
                    "volumes: [{name: m, ephemeral: {volumeClaimTemplate: {spec: {accessModes: "
                    "[ReadWriteOnce]}}}}]\n")),
       "name: main"},
      // Neither a clock's file nor a folder that the hub's cache is not in keeps what is fetched.
      {"model-cache-missing",
       deployment(pod_spec(1,
                           "command: [vllm, serve, org/model]\n" + ready +
                               "volumeMounts: [{name: t, mountPath: /etc/localtime}]\n",
                           "volumes: [{name: t, hostPath: {path: /etc/localtime, type: File}}]\n")),
       "name: main"},
      {"model-cache-missing",
       replaced(replaced(server(), "/models/m", "org/model"), "mountPath: /models",
                "mountPath: /root/models"),
       "name: main"},
      {"model-cache-missing",
       replaced(deployment(pod_spec(1, ready)), "example.com/work:1.2", "ollama/ollama:0.5.7"),
       "name: main"},
      {"checkpoint-missing", job(pod_spec(1, "command: [python, train.py]\n")), "name: main"},
      {"checkpoint-missing", replaced(job(pod_spec(1)), "name: x", "name: gemma-finetuning"),
       "name: main"},
      {"checkpoint-missing", job(pod_spec(1, "command: [python, train/launch.py, --x]\n")),
       "name: main"},
      {"checkpoint-missing", replaced(job(pod_spec(1)), "name: x", "name: ddp-train"),
       "name: main"},
      {"shm-missing",
       "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: x}\nspec:\n"
       "  slotsPerWorker: 8\n  mpiReplicaSpecs:\n    Worker:\n      template:\n        spec:\n" +
           indented(replaced(pod_spec(8, "volumeMounts: [{name: m, mountPath: /m}]\n", models),
                             "example.com/work:1.2", "example.com/jax:1.2"),
                    10),
       "name: main"},
      {"shm-unbounded",
       "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: x}\nspec:\n"
       "  engineConfig:\n    volumes: [{name: s, emptyDir: {medium: Memory}}]\n    runner:\n"
       "      name: engine\n      image: example.com/sglang:1.2\n      volumeMounts: [{name: s, "
       "mountPath: /dev/shm}]\n      resources: {limits: {memory: 8Gi, cpu: 8, nvidia.com/gpu: "
       "1}}\n",
       "emptyDir"},
      {"checkpoint-ephemeral",
       job(pod_spec(1,
                    "command: [torchrun, train.py]\nargs:\n- --checkpoint_dir=./out\n" +
                        std::string(shm_mount),
                    shm_volume)),
       "--checkpoint_dir"},
  };
}

std::vector<Case> probe_cases() {
  return {
      {"readiness-missing", replaced(server(), indented(ready, 8), ""), "name: main"},
      // Without a leader's template the workers' is the leader's too.
      {"readiness-missing",
       "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: "
       "x}\nspec:\n"
       "  leaderWorkerTemplate:\n    size: 1\n    workerTemplate:\n      spec:\n" +
           indented(pod_spec(1, serve + mounts, models), 8),
       "name: main"},
      // What may fetch models and listens serves them, with however many workers.
      {"readiness-missing",
       deployment(pod_spec(1,
                           "command: [uvicorn, app:app, --workers, \"2\"]\nports: "
                           "[{containerPort: 8501}]\nenv: [{name: HF_TOKEN, valueFrom: "
                           "{secretKeyRef: {name: s, key: k}}}]\nvolumeMounts: [{name: c, "
                           "mountPath: /root/.cache}]\n",
                           "volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]\n")),
       "name: main"},
      {"readiness-tcp-only",
       replaced(server(), "httpGet: {path: /health, port: 8000}", "tcpSocket: {port: 8000}"),
       "tcpSocket"},
      {"liveness-before-load",
       server(
           "livenessProbe:\n  httpGet: {path: /health, port: 8000}\n  initialDelaySeconds: 60\n"),
       "path: /health, port: 8000}\n          initial"},
      {"liveness-before-load",
       "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: x}\nspec:\n"
       "  containers:\n  - name: kserve-container\n    image: "
       "example.com/text-generation-inference:3.0\n    livenessProbe:\n      exec: {command: "
       "[curl, localhost]}\n      initialDelaySeconds: 30\n",
       "command: [curl"},
      {"startup-short", server("startupProbe:\n  httpGet: {path: /health, port: 8001}\n"),
       "port: 8001"},
  };
}

std::vector<Case> text_cases() {
  const auto with_image = [](std::string_view image) {
    return replaced(server(), "example.com/work:1.2", image);
  };
  const auto with_token = [](const std::string& value) {
    return server("env:\n- name: HF_TOKEN\n  value: " + value + "\n");
  };
  return {
      {"token-literal", with_token("hf_abcdefghijklmnopqrstuvwxyz"), "value: hf_"},
      {"token-literal",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  start.py: |\n"
       "    run([\"serve\",\n      \"--api-key\", \"sk-0a1b2c3d4e5f60718293a4b5c6d7e8f9\"])\n",
       "--api-key"},
      {"token-literal",
       "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: x}\nspec:\n  serveConfigV2: |\n"
       "    applications:\n    - working_dir: "
       "https://me:ghp_0123456789abcdefghijABCDEFGHIJ0@x.y/z\n"
       "  rayClusterConfig:\n    headGroupSpec:\n      template:\n        spec:\n" +
           indented(pod_spec(1), 10),
       "working_dir"},
      {"token-placeholder", with_token("<your-token>"), "value: <your"},
      {"token-not-expanded", with_token("$HF_TOKEN"), "value: $HF"},
      {"image-untagged", with_image("example.com/work"), "image:"},
      {"image-latest",
       replaced(with_image("example.com/work:latest"), "nvidia.com/gpu", "amd.com/gpu"), "image:"},
      {"image-latest", with_image("example.com:5000/work:latest"), "image:"},
      {"image-mutable", with_image("example.com/work:nightly-cu12"), "image:"},
      {"image-placeholder", with_image("IMAGE_NAME"), "image:"},
      {"image-placeholder", with_image("registry.example.com/your-team/work:1.2"), "image:"},
      {"image-latest",
       server() + "---\n" + deployment("containers: [{name: proxy, image: \"x/y:latest\"}]\n"),
       "name: proxy"},
      {"value-not-text", server("env:\n- name: A\n  value: 8\n"), "value: 8"},
      {"value-not-text", server("", "nodeSelector:\n  gpu: true\n"), "gpu: true"},
      {"field-misplaced", server("nodeSelector: {a: b}\n"), "nodeSelector"},
      {"field-misplaced",
       deployment("containers:\n- name: a\n  image: x/y:1\n  resources: {nvidia.com/gpu: 1}\n"),
       "nvidia.com/gpu"},
      {"field-misplaced", server("", "env: []\n"), "env: []"},
      {"manifest-broken", "a: b\n}: c\n", "}"},
      {"manifest-too-large", "a: " + std::string(5 << 20, 'x'), "a:"},
      {"template-not-read", "a: {{ .b }}\n  c: }\n", "a:"},
  };
}

std::vector<Case> object_cases() {
  return {
      {"selector-mismatch", replaced(server(), "labels: {app: x}", "labels: {app: y}"),
       "matchLabels"},
      {"selector-mismatch", replaced(server(), "metadata: {labels: {app: x}}", "metadata: {}"),
       "matchLabels"},
      {"job-restart-policy", replaced(job(pod_spec(1)), "restartPolicy: Never", ""), "containers:"},
      {"job-restart-policy",
       replaced(job(pod_spec(1)), "restartPolicy: Never", "restartPolicy: Always"), "Always"},
      {"volume-undefined", replaced(server(), "name: m, mountPath", "name: n, mountPath"),
       "name: n"},
      {"surge-by-default", server(), "kind: Deployment"},
      {"surge-needs-gpus",
       replaced(server(), "spec:\n", "spec:\n  strategy: {rollingUpdate: {maxUnavailable: 0}}\n"),
       "maxUnavailable"},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& some :
       {gpu_cases(), memory_cases(), probe_cases(), text_cases(), object_cases()}) {
    cases.insert(cases.end(), some.begin(), some.end());
  }
  return cases;
}

TEST(Rules, each_fires_on_what_it_is_about_at_the_line_where_that_stands) {
  for (const Case& one : all_cases()) {
    EXPECT_EQ(lines_of_rule(one.manifest, one.rule), std::vector{line_with(one.manifest, one.at)})
        << one.rule << "\n"
        << one.manifest.substr(0, 3000);
  }
}

TEST(Rules, resources_of_a_trainjob_are_all_that_its_pods_have) {
  const std::string job =
      "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: x}\nspec:\n"
      "  trainer:\n    resourcesPerNode:\n      limits: {nvidia.com/gpu: 1}\n";
  EXPECT_EQ(lines_of_rule(job, "memory-limit-missing").size(), 1U);
  EXPECT_EQ(lines_of_rule(job, "cpu-request-missing").size(), 1U);
  const std::string runtime =
      "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: "
      "x}\nspec:\n  template:\n    spec:\n      replicatedJobs:\n      - name: node\n        "
      "template:\n          spec:\n            template:\n              spec:\n" +
      indented(pod_spec(2, "command: [tune, run]\n"), 16);
  EXPECT_EQ(lines_of_rule(runtime, "shm-missing").size(), 1U);
  EXPECT_EQ(lines_of_rule(runtime, "memory-limit-missing").size(), 0U);
}

TEST(Rules, each_case_is_about_nothing_else) {
  for (const Case& one : all_cases()) {
    for (const auto& finding : lint_manifest(one.manifest, "m.yaml").findings) {
      // What follows from it: a cache that is not on a volume is on none, a folder of the node.
      if (finding.severity < Severity::warning || finding.rule == one.rule) continue;
      ADD_FAILURE() << one.rule << " with " << finding.rule << ": " << finding.message;
    }
  }
}

TEST(Rules, none_is_without_a_case) {
  std::set<std::string_view> seen;
  for (const Case& one : all_cases()) seen.insert(one.rule);
  for (const Rule& rule : rules()) EXPECT_TRUE(seen.contains(rule.id)) << rule.id;
}

TEST(Rules, a_model_that_may_fit_is_not_told) {
  const std::string l4 = "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n";
  for (const auto& text :
       {serving("meta-llama/Llama-3.1-8B-Instruct", 1, l4),
        serving("meta-llama/Llama-3.1-70B-Instruct", 8, l4),
        serving("meta-llama/Llama-3.1-70B-Instruct, --quantization, awq", 2, l4),
        serving("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", 1, l4),
        serving("meta-llama/Llama-3.1-8B, --max-model-len=8192", 1, l4),
        serving("openai/gpt-oss-20b", 1, l4), serving("meta-llama/Llama-3.1-70B", 1, ""),
        serving("Qwen/Qwen2.5-72B-Instruct", 2,
                "nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}\n"),
        replaced(serving("meta-llama/Llama-3.1-70B", 1, l4), "gpu: 1", "gpu: \"$GPUS\"")}) {
    EXPECT_TRUE(lines_of_rule(text, "model-too-large").empty()) << text;
  }
}

TEST(Rules, have_ids_of_their_own_and_say_why_what_to_do_and_who_says_so) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_EQ(rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              std::string_view::npos)
        << rule.id;
    EXPECT_TRUE(rule.source.starts_with("https://")) << rule.id;
    EXPECT_FALSE(rule.why.empty() || rule.fix.empty() || rule.title.ends_with('.')) << rule.id;
  }
}

TEST(Rules, a_validator_of_the_nodes_gpus_may_take_one_in_its_init_container) {
  const auto validator =
      object_of("apps/v1", "DaemonSet",
                "hostPID: true\ninitContainers:\n- {name: check, image: \"x/validator:1\", "
                "resources: {limits: "
                "{nvidia.com/gpu: 1}}}\ncontainers:\n- {name: done, image: \"x/validator:1\"}\n");
  for (const auto& line : told(validator))
    EXPECT_EQ(line.find("gpu-on-sidecar"), line.npos) << line;
}

TEST(Rules, a_server_and_a_training_with_all_that_they_need_are_silent) {
  EXPECT_EQ(told(server()), std::vector<std::string>{});
}

}  // namespace
}  // namespace stoker::lint::kubernetes
