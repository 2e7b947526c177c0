// Analyzer stage: where a server's model comes from, and whether it is kept.
#include <algorithm>
#include <array>

#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/storage.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

// "org/name" as https://huggingface.co/docs/hub/repositories has it; no path, no URL.
bool is_hub_model(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  if (text.find('/', slash + 1) != std::string_view::npos) return false;
  if (text.front() == '.' || text.front() == '-' || is_filled_in_later(text)) return false;
  return text.find_first_of(": \t=,") == std::string_view::npos;
}

std::string model_option(const Container& container) {
  const auto option =
      option_of(container, {"--model", "--model-id", "--model-path", "--model-name", "-m"});
  if (option && is_hub_model(option->text)) return option->text;
  for (std::size_t i = 0; i + 1 < container.words.size(); ++i) {
    const auto model = expanded(container, container.words[i + 1].text);
    if (container.words[i].text == "serve" && is_hub_model(model)) return model;
  }
  return {};
}

// What says that this container fetches a model from a hub; empty: nothing.
std::string download_of(const Subject& subject, const Container& container) {
  if (const auto model = model_option(container); !model.empty()) return "loads " + model;
  constexpr std::array<std::string_view, 4> variables = {"MODEL_ID", "MODEL", "MODEL_NAME",
                                                         "HF_MODEL_ID"};
  for (const auto name : variables) {
    const EnvVar* variable = container.variable(name);
    if (variable != nullptr && is_hub_model(variable->value.text())) {
      return fmt::format("loads {}", variable->value.text());
    }
  }
  if (const EnvVar* token = hub_token(container); token != nullptr)
    return fmt::format("has {} to fetch a model with", token->name);
  // The image has no models of its own: each is pulled by name into ~/.ollama
  // (https://github.com/ollama/ollama/blob/main/docs/faq.mdx).
  auto image = container.image.text();
  image = image.substr(0, image.find_first_of(":@"));
  if (subject.evidence.framework == Framework::ollama && image.ends_with("ollama/ollama"))
    return "pulls its models by name";
  const auto config = subject.workload.object.at("spec.serveConfigV2").text();
  if (config.find("model_id:") != std::string_view::npos &&
      config.find("model_source: /") == std::string_view::npos) {
    return "serves the model that serveConfigV2 names";
  }
  return {};
}

bool is_option_about_storage(std::string_view text) {
  return text.find("download-dir") != std::string_view::npos ||
         text.find("cache") != std::string_view::npos;
}

// May the server keep models elsewhere than in the home folder, by a variable, an option or a script?
bool may_keep_elsewhere(const Container& container) {
  if (container.may_gain("env") || container.may_gain("args") || container.may_gain("command") ||
      container.view.find("envFrom").exists() || container.view.find("workingDir").exists())
    return true;
  const bool by_variable = std::ranges::any_of(container.env, [](const EnvVar& variable) {
    return variable.name.find("HOME") != std::string_view::npos ||
           variable.name.find("CACHE") != std::string_view::npos ||
           variable.name.find("DIR") != std::string_view::npos ||
           variable.name.find("PATH") != std::string_view::npos;
  });
  return by_variable || std::ranges::any_of(container.words, [](const Word& word) {
           const auto base = base_name(word.text);
           return base == "sh" || base == "bash" || is_option_about_storage(word.text);
         });
}

// Where the hub's cache of a process of root is (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
constexpr std::string_view usual_cache = "/root/.cache/huggingface/hub";

// Does the container keep what it fetches? vLLM and SGLang fetch into the hub's cache, which lies in a home folder: a
// volume that is mounted at none of its folders keeps nothing of it.
bool keeps_models(const Subject& subject, const Pod& pod, const Container& container) {
  const auto framework = subject.evidence.framework;
  const bool usual = (framework == Framework::vllm || framework == Framework::sglang) &&
                     !model_option(container).empty() && !may_keep_elsewhere(container);
  return std::ranges::any_of(mounts_of(pod, container), [&](const Mount& mount) {
    if (mount.path.starts_with("/dev/shm") || lasting_of(mount) == Lasting::no) return false;
    return !usual || usual_cache.starts_with(mount.path) ||
           mount.path.find("cache") != std::string_view::npos ||
           mount.path.find("huggingface") != std::string_view::npos ||
           mount.path.starts_with("/home");
  });
}

bool looks_up_only_locally(const Container& container) {
  const EnvVar* offline = container.variable("HF_HUB_OFFLINE");
  return offline != nullptr && offline->value.text() == "1";
}

bool fetches_at_all(const Subject& subject, const Pod& pod, const Container& container) {
  if (!container.gpus.any || container.init || is_helper(container)) return false;
  // What ends has no next start.
  const auto kind = subject.workload.kind;
  if (kind == "Job" || kind == "CronJob" || kind == "JobSet") return false;
  return subject.evidence.purpose == Purpose::serving || is_server(subject, pod, container);
}

// KServe's storage initializer fetches a model into the pod's own emptyDir at every start. A LocalModelCache keeps one on
// nodes, of an InferenceService alone
// (https://kserve.github.io/website/docs/model-serving/generative-inference/modelcache/localmodel and
// https://kserve.github.io/website/docs/install/localmodel-install).
void check_model_uris(const Subject& subject) {
  const bool is_llm = subject.workload.kind == "LLMInferenceService";
  if (!is_llm && subject.workload.kind != "InferenceService") return;
  const bool on_gpus =
      std::ranges::any_of(subject.workload.pods, [](const Pod& pod) { return pod.has_gpus(); });
  const yaml::View uri =
      subject.workload.object.at(is_llm ? "spec.model.uri" : "spec.predictor.model.storageUri");
  if (!on_gpus || !uri.text().starts_with("hf://")) return;
  subject.add(RuleId::model_cache_missing, uri.place(),
              fmt::format("every pod fetches {} at its start{}", uri.text(),
                          is_llm ? "" : ", unless a LocalModelCache has it"));
}

}  // namespace

// https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables, and what people call it besides.
const EnvVar* hub_token(const Container& container) {
  constexpr std::array<std::string_view, 5> names = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                                                     "HUGGINGFACE_TOKEN", "HF_API_TOKEN",
                                                     "HUGGINGFACE_HUB_TOKEN"};
  for (const auto name : names) {
    if (const EnvVar* variable = container.variable(name); variable != nullptr) return variable;
  }
  return nullptr;
}

void check_models(const Subject& subject) {
  check_model_uris(subject);
  for (const Pod& pod : subject.workload.pods) {
    if (pod.row->gives == Gives::kserve || pod.row->gives == Gives::runtime) continue;
    for (const Container& container : pod.containers) {
      if (!fetches_at_all(subject, pod, container) || !is_complete(pod, container) ||
          !has_all_volumes(pod, container))
        continue;
      if (keeps_models(subject, pod, container) || looks_up_only_locally(container)) continue;
      const auto download = download_of(subject, container);
      if (download.empty()) continue;
      subject.add(RuleId::model_cache_missing, container.place(),
                  fmt::format("{} {}, and has no volume that keeps it", subject.name_of(container),
                              download));
    }
  }
}

}  // namespace stoker::lint::kubernetes
