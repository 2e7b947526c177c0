// Analyzer stage: the probes of model servers against the time in which a model loads.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// A model of 70 billion parameters is 140 GB; at 0.5 GB/s from a network disk that is 280 s, and from a hub more. Of
// vLLM's own examples the startup probe gives 10 minutes
// (https://docs.vllm.ai/en/latest/deployment/k8s.html).
constexpr int plausible_load_s = 300;
// Less than this does not cover CUDA start, graph capture and a small model from a local disk.
constexpr int least_startup_s = 120;

// Seconds after which a probe that never succeeds has its effect; nullopt: not known. Defaults as in
// https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
std::optional<int> window_of(View probe) {
  // What asks and when come from the same place: where a template writes the one, it may write the other.
  constexpr std::array<std::string_view, 4> handlers = {"httpGet", "exec", "tcpSocket", "grpc"};
  if (std::ranges::none_of(handlers, [&](auto name) { return probe.find(name).exists(); }))
    return std::nullopt;
  const auto field = [&](std::string_view name, int otherwise) -> std::optional<int> {
    const View value = probe.find(name);
    return value.is_null() ? otherwise : whole_number<int>(value.text());
  };
  const auto delay = field("initialDelaySeconds", 0);
  const auto period = field("periodSeconds", 10);
  const auto failures = field("failureThreshold", 3);
  if (!delay || !period || !failures || *period > 86400 || *failures > 86400) return std::nullopt;
  if (*delay < 0 || *period < 0 || *failures < 0 || *delay > 1000000) return std::nullopt;
  const auto window = std::int64_t{*delay} + std::int64_t{*period} * *failures;
  return static_cast<int>(std::min<std::int64_t>(window, 2000000000));
}

// Does a Service of the file send requests to these pods?
bool is_served(const Subject& subject, const Pod& pod) {
  const View labels = pod.metadata.find("labels");
  return std::ranges::any_of(subject.services, [&](const View& service) {
    const View selector = service.at("spec.selector");
    bool matches = selector.is_map();
    selector.each_entry([&](View key, View value) {
      // LeaderWorkerSet's controller adds its own labels.
      if (key.text().starts_with("leaderworkerset.sigs.k8s.io/")) return;
      matches = matches && labels.find(key.text()).text() == value.text();
    });
    return matches && labels.is_map();
  });
}

// Does it mount models, or answer where the open inference protocol asks whether a model is there
// (https://github.com/kserve/open-inference-protocol specification/protocol/inference_rest.md)?
bool has_models(const Container& container) {
  bool found = false;
  container.view.find("volumeMounts").each_item([&](View mount) {
    found = found || mount.find("name").text().find("model") != std::string_view::npos ||
            mount.find("mountPath").text().find("model") != std::string_view::npos;
  });
  for (const auto* probe : {"livenessProbe.httpGet.path", "readinessProbe.httpGet.path"})
    found = found || container.view.at(probe).text().starts_with("/v2/health/");
  return found;
}

// Does a word of the container, its image or its object say that it answers requests to a model? A port alone does not:
// queue workers show metrics, tests have a headless Service.
bool is_called_a_server(const Subject& subject, const Container& container) {
  constexpr std::array<std::string_view, 17> words = {
      "infer", "serv", "model",   "llm",     "api",    "triton",  "tgi",      "embed",     "diffus",
      "chat",  "gpt",  "predict", "whisper", "speech", "localai", "lmdeploy", "xinference"};
  constexpr std::array<std::string_view, 5> others = {"worker", "consumer", "sshd", "batch",
                                                      "sleep"};
  const auto any = [](const auto& list, std::string_view text) {
    return std::ranges::any_of(
        list, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  };
  // Of the image its own name: that of a registry or of its owner ("linuxserver") tells nothing.
  bool serves = any(words, container.name) || any(words, base_name(container.image.text())) ||
                any(words, subject.workload.name) || hub_token(container) != nullptr ||
                has_models(container);
  for (const Word& word : container.words) {
    // An option, "--workers 4", says how it serves.
    if (!word.text.starts_with('-') && any(others, base_name(word.text))) return false;
    serves = serves || any(words, base_name(word.text));
  }
  return serves && !any(others, container.name) && !any(others, subject.workload.name);
}

// Has it a port that is for requests?
bool has_port(const Container& container) {
  bool found = false;
  container.view.find("ports").each_item([&](View port) {
    const auto name = port.find("name").text();
    found = found || (name.find("metrics") == std::string_view::npos && name != "ssh");
  });
  return found;
}

// Where nothing tells what it runs: is it called a server, and has it a port for requests?
bool seems_to_serve(const Subject& subject, const Pod& pod, const Container& container) {
  return is_called_a_server(subject, container) && (has_port(container) || is_served(subject, pod));
}

void check_readiness(const Subject& subject, const Pod& pod, const Container& container) {
  const View readiness = container.view.find("readinessProbe");
  if (readiness.is_map()) {
    if (!readiness.find("tcpSocket").is_map()) return;
    return subject.add(
        RuleId::readiness_tcp_only, readiness.place(),
        fmt::format("{} is ready as soon as its port is open", subject.name_of(container)));
  }
  // A startup probe holds the pod back as long as it has not succeeded.
  if (pod.row->gives != Gives::nothing || !is_complete(pod, container) || !readiness.is_null() ||
      container.view.find("startupProbe").exists()) {
    return;
  }
  subject.add(
      RuleId::readiness_missing, container.place(),
      fmt::format("{} serves a model and has no readinessProbe", subject.name_of(container)));
}

// Does it answer before a model is loaded, and load with the first request for it? https://github.com/ollama/ollama
// docs/faq.md, https://github.com/mostlygeek/llama-swap README.
bool loads_when_asked(const Subject& subject) {
  return subject.evidence.framework == Framework::ollama ||
         subject.evidence.framework == Framework::llama_swap;
}

// Has its kind a startup probe for it? https://github.com/kserve/kserve config/llmisvcconfig/config-llm-template.yaml, into
// which the service's own container is merged.
bool is_given_startup(const Subject& subject) {
  return subject.workload.kind == "LLMInferenceService";
}

void check_restart(const Subject& subject, const Container& container) {
  const View startup = container.view.find("startupProbe");
  if (startup.is_map()) {
    const auto window = window_of(startup);
    if (!window || *window >= least_startup_s) return;
    return subject.add(RuleId::startup_short, startup.place(),
                       fmt::format("{} is restarted when it has not started within {} s",
                                   subject.name_of(container), *window));
  }
  const View liveness = container.view.find("livenessProbe");
  if (!liveness.is_map() || !startup.is_null() || loads_when_asked(subject) ||
      is_given_startup(subject))
    return;
  const auto window = window_of(liveness);
  if (!window || *window >= plausible_load_s || container.open) return;
  subject.add(
      RuleId::liveness_before_load, liveness.place(),
      fmt::format(
          "{} is restarted when it does not answer {} s after its start, and has no startupProbe",
          subject.name_of(container), *window));
}

}  // namespace

bool is_server(const Subject& subject, const Pod& pod, const Container& container) {
  if (!container.gpus.any || container.init || is_helper(container)) return false;
  if (pod.role == "worker" || pod.role == "prefill worker") return false;
  constexpr std::array<std::string_view, 4> ending = {"Job", "CronJob", "RayJob", "JobSet"};
  if (std::ranges::find(ending, subject.workload.kind) != ending.end()) return false;
  if (subject.evidence.purpose == Purpose::serving) return true;
  if (subject.evidence.purpose != Purpose::unknown) return false;
  const bool lasting = subject.workload.kind == "Deployment" ||
                       subject.workload.kind == "LeaderWorkerSet" ||
                       subject.workload.kind == "StatefulSet";
  return lasting && (container.view.find("ports").is_list() || is_served(subject, pod));
}

void check_probes(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (!is_server(subject, pod, container)) continue;
      const bool only_a_port = subject.evidence.purpose == Purpose::unknown;
      if (only_a_port && !seems_to_serve(subject, pod, container)) continue;
      check_readiness(subject, pod, container);
      check_restart(subject, container);
    }
  }
}

// A runtime of KServe gets its GPUs from the services that use it; that it is one for GPUs, its server says.
void check_runtime_probes(const Subject& subject) {
  const auto framework = subject.evidence.framework;
  if (framework != Framework::vllm && framework != Framework::sglang && framework != Framework::tgi)
    return;
  for (const Pod& pod : subject.workload.pods) {
    if (pod.row->purpose != Purpose::serving || pod.row->gives != Gives::runtime) continue;
    for (const Container& container : pod.containers) {
      if (!container.init && !is_helper(container)) check_restart(subject, container);
    }
  }
}

}  // namespace stoker::lint::kubernetes
