// What looks like a mistake and is none: each of these has to stay silent.
#include <gtest/gtest.h>

#include "lint/kubernetes/lint_test_support.h"

namespace stoker::lint::kubernetes {
namespace {

using Told = std::vector<std::string>;

std::string trainer(std::string_view container, std::string_view spec) {
  return job(pod_spec(
      8,
      std::string("command: [torchrun, --nproc-per-node=8, train.py]\n") + std::string(container),
      spec));
}

TEST(Traps, the_nodes_own_shared_memory_is_a_volume_as_good_as_another) {
  const auto text = trainer(
      "volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: data, mountPath: /data}]\n",
      "volumes: [{name: shm, hostPath: {path: /dev/shm}}, {name: data, persistentVolumeClaim: "
      "{claimName: d}}]\n");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_quantity_that_envsubst_fills_in_is_no_mistake) {
  auto text = trainer(
      "volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: data, mountPath: /data}]\n",
      "volumes: [{name: shm, hostPath: {path: /dev/shm}}, {name: data, persistentVolumeClaim: "
      "{claimName: d}}]\n");
  text.replace(text.find("nvidia.com/gpu: 8"), 17, "nvidia.com/gpu: \"${GPU_PER_NODE}\"");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, amounts_of_hami_are_no_gpus) {
  auto text = deployment(pod_spec(1));
  text.replace(text.find("nvidia.com/gpu: 1"), 17,
               "nvidia.com/gpucores: 30, nvidia.com/gpumem: 3000");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_launcher_or_head_without_gpus_needs_nothing_of_what_workers_need) {
  const std::string text =
      "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: x}\nspec:\n"
      "  mpiReplicaSpecs:\n    Launcher:\n      template:\n        spec:\n          containers:\n"
      "          - {name: l, image: \"example.com/x:1\", command: [mpirun, train.py]}\n"
      "    Worker:\n      template:\n        spec:\n" +
      indented(
          pod_spec(8,
                   "volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: d, mountPath: /d}]\n",
                   "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}, "
                   "{name: d, nfs: {server: s, path: /}}]\n"),
          10);
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, what_kuberay_adds_at_run_time_is_not_missed) {
  const std::string text =
      "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: x}\nspec:\n  rayClusterConfig:\n"
      "    workerGroupSpecs:\n    - groupName: g\n      template:\n        spec:\n" +
      indented(pod_spec(4), 10);
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, what_kserve_adds_at_run_time_is_not_missed) {
  const std::string text =
      "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: x}\nspec:\n"
      "  predictor:\n    model:\n      modelFormat: {name: huggingface}\n"
      "      resources: {limits: {nvidia.com/gpu: \"2\"}}\n";
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, an_image_that_is_merged_in_later_is_not_missed) {
  const std::string patch =
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n"
      "      containers:\n      - name: main\n        resources: {limits: {nvidia.com/gpu: 8}}\n";
  EXPECT_EQ(told(patch), Told{});
  const std::string service =
      "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: "
      "x}\nspec:\n"
      "  template:\n    containers:\n    - name: main\n      resources:\n        requests: {cpu: "
      "4}\n"
      "        limits: {memory: 64Gi, nvidia.com/gpu: \"2\"}\n";
  EXPECT_EQ(told(service), Told{});
}

TEST(Traps, a_job_that_only_sleeps_or_measures_is_no_workload) {
  EXPECT_EQ(
      told(job("containers:\n- {name: a, image: \"example.com/x:1\", command: [sleep, infinity], "
               "resources: {limits: {nvidia.com/gpu: 8}}}\n")),
      Told{});
  EXPECT_EQ(
      told(job(
          "containers:\n- {name: a, image: \"nvcr.io/nvidia/k8s/cuda-sample:nbody-cuda11.7.1\", "
          "args: [--benchmark], resources: {limits: {nvidia.com/gpu: 1}}}\n")),
      Told{});
}

TEST(Traps, a_daemon_of_the_cluster_may_have_the_node) {
  const auto text = object_of(
      "apps/v1", "DaemonSet",
      "hostPID: true\ncontainers:\n- name: a\n  image: FILLED BY THE OPERATOR\n"
      "  securityContext: {privileged: true}\n  volumeMounts: [{name: r, mountPath: /host}]\n"
      "  resources: {limits: {nvidia.com/gpu: 1}}\n"
      "volumes: [{name: r, hostPath: {path: /}}]\n");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_token_from_a_secret_or_by_reference_is_no_literal) {
  const auto text = deployment(
      pod_spec(1,
               "env:\n- name: HF_TOKEN\n  valueFrom: {secretKeyRef: {name: hf, key: token}}\n"
               "- {name: HUGGING_FACE_HUB_TOKEN, value: $(HF_TOKEN)}\n- {name: OPENAI_API_KEY, "
               "value: EMPTY}\n"
               "- {name: MAX_TOTAL_TOKENS, value: \"2048\"}\n"));
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, tensorflow_and_jax_do_not_share_memory_between_processes) {
  for (const auto* image : {"tensorflow/tensorflow:2.13.0-gpu", "example.com/jax:1.2"}) {
    auto text = deployment(pod_spec(8));
    text.replace(text.find("example.com/work:1.2"), 20, image);
    EXPECT_EQ(told(text), Told{}) << image;
  }
}

TEST(Traps, a_chart_is_read_around_its_actions_and_not_blamed_for_them) {
  const std::string text =
      "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
      "  name: {{ .Release.Name }}\nspec:\n  selector:\n    matchLabels:\n      {{- include \"x\" "
      ". | nindent 6 }}\n"
      "  template:\n    metadata:\n      labels:\n        {{- include \"x\" . | nindent 8 }}\n"
      "    spec:\n      containers:\n      - name: {{ .Chart.Name }}\n"
      "        image: \"{{ .Values.image }}:{{ .Values.tag | default \"latest\" }}\"\n"
      "        args: [--model, {{ .Values.model }}]\n        ports: [{containerPort: 8000}]\n"
      "        resources:\n          {{- toYaml .Values.resources | nindent 10 }}\n"
      "          limits:\n            nvidia.com/gpu: {{ .Values.gpus }}\n"
      "        {{- include \"probes\" . | nindent 8 }}\n{{- end }}\n";
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, servers_of_one_process_share_no_memory_between_gpus) {
  auto text = deployment(
      pod_spec(2,
               "command: [/app/llama-server, -m, /models/m.gguf]\nreadinessProbe: {httpGet: "
               "{path: /health, port: 8080}}\n"));
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, stages_that_have_sizes_of_their_own_are_not_one_rank) {
  auto text = deployment(pod_spec(
      2,
      "command: [vllm, serve, /models/m, --omni]\nreadinessProbe: {httpGet: {path: /health, "
      "port: 8000}}\n" +
          std::string(shm_mount),
      shm_volume));
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_port_alone_makes_no_model_server) {
  // A queue's worker with metrics, a test behind a headless Service, a program of another kind.
  auto worker = deployment(pod_spec(1, "ports: [{name: metrics, containerPort: 9090}]\n"));
  worker.replace(worker.find("name: main"), 10, "name: frames-worker");
  EXPECT_EQ(told(worker), Told{});
  EXPECT_EQ(told(deployment(pod_spec(1, "ports: [{containerPort: 8096}]\n"))), Told{});
  auto api = deployment(pod_spec(1, "ports: [{containerPort: 8096}]\n"));
  api.replace(api.find("name: main"), 10, "name: embeddings");
  EXPECT_EQ(told(api), (Told{"readiness-missing:10"}));
}

TEST(Traps, launchers_that_take_what_there_is_or_are_told_elsewhere_are_right) {
  for (const auto* command :
       {"[accelerate, launch, --config_file, a.yaml, --num_processes, \"8\", a.py]",
        "[accelerate, launch, a.py]", "[deepspeed, a.py]", "[torchrun, --nproc-per-node=gpu, a.py]",
        "[accelerate, launch, --num_processes=16, --num_machines=8, a.py]",
        "[torchrun, --nnodes=4, --nproc-per-node=2, a.py]"}) {
    const auto text = job(pod_spec(2,
                                   "command: " + std::string(command) +
                                       "\nvolumeMounts: [{name: shm, mountPath: /dev/shm}, {name: "
                                       "c, mountPath: /c}]\n",
                                   "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: "
                                   "8Gi}}, {name: c, persistentVolumeClaim: {claimName: c}}]\n"));
    EXPECT_EQ(told(text), Told{}) << command;
  }
}

TEST(Traps, ollama_answers_before_it_loads) {
  EXPECT_EQ(lines_of_rule(deployment(pod_spec(1,
                                              "command: [ollama, serve]\nlivenessProbe: {httpGet: "
                                              "{path: /, port: 11434}}\n")),
                          "liveness-before-load")
                .size(),
            0U);
}

TEST(Traps, what_is_not_called_a_server_has_no_model_to_load) {
  const std::string probe =
      "ports: [{containerPort: 6818}]\nlivenessProbe: {exec: {command: [pgrep, node]}}\n";
  auto node = deployment(pod_spec(1, probe));
  node.replace(node.find("name: main"), 10, "name: desk");
  EXPECT_EQ(told(node), Told{});
  // An owner's name is none of its images'.
  node.replace(node.find("example.com/work:1.2"), 20, "example.com/cloudservers/desk:1.2");
  EXPECT_EQ(told(node), Told{});
  auto server = deployment(pod_spec(1, probe));
  server.replace(server.find("name: main"), 10, "name: inference");
  EXPECT_EQ(lines_of_rule(server, "liveness-before-load").size(), 1U);
}

TEST(Traps, llama_swap_answers_before_it_loads_and_runs_one_process) {
  auto text = deployment(
      pod_spec(2,
               "readinessProbe: {httpGet: {path: /health, port: 8080}}\nlivenessProbe: {httpGet: "
               "{path: /health, port: 8080}}\n"));
  text.replace(text.find("example.com/work:1.2"), 20, "example.com/llama-swap:v158");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, kserve_merges_a_startup_probe_into_an_llm_service) {
  const std::string text =
      "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: "
      "x}\nspec:\n  template:\n    containers:\n    - name: main\n      resources: {requests: "
      "{cpu: 4}, limits: {memory: 64Gi, nvidia.com/gpu: 1}}\n      livenessProbe: {httpGet: "
      "{path: /health, port: 8000}}\n";
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_server_image_that_only_waits_serves_nothing) {
  auto text = deployment(
      pod_spec(1, "command: [bash, -c, --]\nargs: [\"while true; do sleep 30; done;\"]\n"));
  text.replace(text.find("example.com/work:1.2"), 20, "example.com/tritonserver:24.06");
  EXPECT_EQ(told(text), Told{});
  text.replace(text.find("  resources:"), 0,
               "  env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n      ");
  EXPECT_EQ(told(text), (Told{"visible-devices-by-hand:14"}));
  // Workers wait for what their launcher starts.
  const std::string mpi =
      "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: x}\nspec:\n"
      "  mpiReplicaSpecs:\n    Launcher:\n      template:\n        spec:\n          containers:\n"
      "          - {name: l, image: \"example.com/x:1\", command: [mpirun, train.py]}\n"
      "    Worker:\n      template:\n        spec:\n" +
      indented(pod_spec(8, "command: [sleep, infinity]\n"), 10);
  EXPECT_EQ(lines_of_rule(mpi, "shm-missing").size(), 1U);
}

TEST(Traps, a_test_of_nccl_by_torchrun_keeps_no_checkpoint) {
  for (const auto* script : {"efa_nccl_preflight.py", "all_reduce_bench.py"}) {
    const auto text = job(pod_spec(8,
                                   "command: [torchrun, --nproc-per-node=8, /t/" +
                                       std::string(script) + "]\n" + std::string(shm_mount),
                                   shm_volume));
    EXPECT_EQ(told(text), Told{}) << script;
  }
}

TEST(Traps, a_smoke_test_of_training_keeps_nothing) {
  auto smoke = job(pod_spec(1, "command: [python, a.py]\n"));
  smoke.replace(smoke.find("name: x"), 7, "name: train-gpu-smoke");
  EXPECT_EQ(told(smoke), Told{});
}

TEST(Traps, training_that_is_told_of_a_bucket_may_write_there) {
  EXPECT_EQ(told(job(pod_spec(1, "command: [python, train.py, --bucket=ours]\n"))), Told{});
  EXPECT_EQ(told(job(pod_spec(
                1, "command: [python, train.py]\nenv: [{name: CKPT_BUCKET, value: ours}]\n"))),
            Told{});
}

TEST(Traps, a_policy_about_pods_runs_none) {
  for (const auto* api : {"kyverno.io/v1", "constraints.gatekeeper.sh/v1beta1"}) {
    const std::string text =
        "apiVersion: " + std::string(api) +
        "\nkind: ClusterPolicy\nmetadata: {name: x}\nspec:\n  rules:\n  - validate:\n"
        "      pattern:\n        spec:\n          containers:\n          - resources: {limits: "
        "{nvidia.com/gpu: \"?*\"}}\n";
    EXPECT_EQ(told(text), Told{}) << api;
  }
}

TEST(Traps, notes_and_names_that_begin_as_tokens_are_none) {
  const auto text = deployment(pod_spec(1,
                                        "args: [--served-name=sk-our-summaries-of-the-year-2026, "
                                        "--token=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxx]\n"));
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, what_holds_a_place_or_fetches_once_is_no_work) {
  auto pause = deployment(pod_spec(8));
  pause.replace(pause.find("example.com/work:1.2"), 20, "registry.k8s.io/pause:3.9");
  EXPECT_EQ(told(pause), Told{});
  EXPECT_EQ(told(job("containers:\n- {name: a, image: \"example.com/agnhost:2.53\", args: [pause], "
                     "resources: {limits: {nvidia.com/gpu: 1}}}\n")),
            Told{});
  EXPECT_EQ(told(job("containers:\n- {name: a, image: \"example.com/x:1\", command: [rocm-smi], "
                     "resources: {limits: {amd.com/gpu: 1}}}\n")),
            Told{});
  EXPECT_EQ(told(job(pod_spec(1, "command: [vllm, serve, org/model]\n"))), Told{});
}

TEST(Traps, of_two_branches_of_a_template_either_may_have_the_limit) {
  const std::string text = deployment(
      "containers:\n- name: a\n  image: example.com/x:1\n  resources:\n{% if x %}\n    limits: "
      "{nvidia.com/gpu: 1, memory: 1Gi, cpu: 1}\n{% else %}\n    limits: {nvidia.com/gpu: 1}\n{% "
      "endif %}\n");
  EXPECT_EQ(told(text), Told{});
}

TEST(Traps, a_pod_without_gpus_is_nobodys_business_here) {
  EXPECT_EQ(told(deployment("containers: [{name: a, image: nginx}]\n")), Told{});
  // Where it wants a node with GPUs, its image is looked at.
  for (const auto* wants :
       {"nodeSelector: {nvidia.com/gpu.present: \"true\"}\n", "runtimeClassName: nvidia\n"}) {
    EXPECT_EQ(told(deployment("containers: [{name: a, image: nginx}]\n" + std::string(wants))),
              (Told{"image-untagged:9"}))
        << wants;
  }
}

TEST(Traps, files_that_are_no_manifests_say_nothing) {
  EXPECT_EQ(told("a: 1\nb: [nvidia.com/gpu]\n"), Told{});
  EXPECT_EQ(told("{\"kind\": \"x\"}"), Told{});
  EXPECT_EQ(told(""), Told{});
}

}  // namespace
}  // namespace stoker::lint::kubernetes
