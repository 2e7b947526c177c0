#include "lint/kubernetes/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "lint/kubernetes/script_words.h"

namespace stoker::lint::kubernetes {
namespace {

enum class Where : std::uint8_t { word, module, script, folder, image, config };

struct Sign {
  Where where;
  std::string_view pattern;
  Framework framework;
  Purpose purpose;
};

constexpr auto signs = std::to_array<Sign>({
#define STOKER_SIGN(where, pattern, framework, purpose) \
  Sign{Where::where, pattern, Framework::framework, Purpose::purpose},
#include "lint/kubernetes/signs.def"
#undef STOKER_SIGN
});

// Does `image` have `part` in its name: not inside a longer word, so that "ray" is not in "x-ray-tools" or "array"?
bool image_has(std::string_view image, std::string_view part) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (auto at = image.find(part); at != std::string_view::npos; at = image.find(part, at + 1)) {
    const auto end = at + part.size();
    if ((at == 0 || !is_letter(image[at - 1])) &&
        (part.size() > 4 || end == image.size() || !is_letter(image[end]))) {
      return true;
    }
  }
  return false;
}

bool is_script(std::string_view word) { return word.ends_with(".py") || word.ends_with(".sh"); }

// Is `folder` one of the folders of `path`?
bool is_in_folder(std::string_view path, std::string_view folder) {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (path.substr(0, slash) == folder) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

// What of `container` is this sign; empty: nothing.
std::string_view seen_in(const Container& container, const Sign& sign) {
  if (sign.where == Where::image) {
    return image_has(container.image.text(), sign.pattern) ? container.image.text()
                                                           : std::string_view();
  }
  for (const Word& word : container.words) {
    const auto text = word.text;
    if (text.starts_with('-')) continue;
    const bool seen =
        (sign.where == Where::word && base_name(text) == sign.pattern) ||
        (sign.where == Where::module && text.starts_with(sign.pattern)) ||
        (sign.where == Where::script && is_script(text) &&
         base_name(text).find(sign.pattern) != std::string_view::npos) ||
        (sign.where == Where::folder && is_script(text) && is_in_folder(text, sign.pattern));
    if (seen) return text;
  }
  return {};
}

// Is `part` one of the parts of a name such as "bert-train-2"?
bool has_part(std::string_view name, std::string_view part) {
  while (!name.empty()) {
    const auto end = std::min(name.find('-'), name.size());
    if (name.substr(0, end) == part) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

// Nothing but waiting: somebody will look in by hand.
bool only_sleeps(const Container& container) {
  return std::ranges::any_of(container.words,
                             [](const Word& word) { return base_name(word.text) == "sleep"; }) &&
         std::ranges::all_of(container.words, [](const Word& word) {
           constexpr std::array<std::string_view, 13> idle = {
               "sleep", "sh", "bash", "-c",   "infinity", "inf", "while",
               "true",  "do", "done", "date", "-ec",      "--"};
           const auto base = base_name(word.text);
           return std::ranges::find(idle, base) != idle.end() ||
                  base.find_first_not_of("0123456789smhd") == std::string_view::npos;
         });
}

// A base system that waits, or prints what a test needs: it holds GPUs for a test of scheduling, and computes nothing.
bool only_holds_a_place(const Container& container) {
  constexpr std::array<std::string_view, 7> bases = {"pause",  "perl",   "busybox", "alpine",
                                                     "ubuntu", "debian", "agnhost"};
  auto image = base_name(container.image.text());
  image = image.substr(0, image.find_first_of(":@"));
  if (std::ranges::find(bases, image) == bases.end()) return false;
  return image == "pause" || image == "perl" ||
         std::ranges::any_of(container.words, [](const Word& word) {
           const auto base = base_name(word.text);
           return base == "sleep" || base == "echo" || base == "pause";
         });
}

// Does the container only show that there is a GPU?
bool only_shows(const Container& container) {
  return std::ranges::any_of(container.words, [](const Word& word) {
    const auto base = base_name(word.text);
    return base == "nvidia-smi" || base == "rocm-smi" || base == "amd-smi";
  });
}

bool is_system(const Workload& workload) {
  const auto space = workload.object.at("metadata.namespace").text();
  if (space == "kube-system" || space == "gpu-operator") return true;
  if (workload.kind != "DaemonSet") return false;
  for (const Pod& pod : workload.pods) {
    const auto priority = pod.spec.find("priorityClassName").text();
    if (priority.starts_with("system-") || pod.spec.find("hostPID").text() == "true") return true;
    bool host = false;
    pod.spec.find("volumes").each_item(
        [&](yaml::View volume) { host = host || volume.find("hostPath").exists(); });
    if (host) return true;
  }
  return false;
}

class Judge {
 public:
  explicit Judge(const Workload& workload) : workload_(workload) {}

  Evidence judge() {
    by_waiting();
    for (const Sign& sign : signs) {
      if (sign.where == Where::config) {
        look_at_config(sign);
      } else {
        look_at_containers(sign);
      }
      if (evidence_.purpose != Purpose::unknown && evidence_.framework != Framework::none) break;
    }
    if (evidence_.purpose == Purpose::unknown) by_idleness();
    if (evidence_.purpose != Purpose::serving && is_system(workload_)) {
      evidence_.purpose = Purpose::system;
      evidence_.reasons.emplace_back("part of the cluster itself: system");
    }
    if (evidence_.purpose == Purpose::unknown) by_test_name();
    if (evidence_.purpose == Purpose::unknown) by_kind();
    if (evidence_.purpose == Purpose::unknown) by_name();
    return std::move(evidence_);
  }

 private:
  void take(const Sign& sign, std::string seen) {
    const bool tells =
        (sign.purpose != Purpose::unknown && evidence_.purpose == Purpose::unknown) ||
        (sign.framework != Framework::none && evidence_.framework == Framework::none);
    if (!tells) return;
    if (evidence_.purpose == Purpose::unknown) evidence_.purpose = sign.purpose;
    if (evidence_.framework == Framework::none) evidence_.framework = sign.framework;
    evidence_.reasons.push_back(std::move(seen));
  }

  void look_at_containers(const Sign& sign) {
    for (const Pod& pod : workload_.pods) {
      for (const Container& container : pod.containers) {
        if (container.init || container.sidecar) continue;
        // A launcher without GPUs says what the others do; a sidecar beside them does not.
        if (pod.has_gpus() && !container.gpus.any) continue;
        const auto seen = seen_in(container, sign);
        if (seen.empty()) continue;
        return take(sign, fmt::format("container '{}' has {}", container.name, seen));
      }
    }
  }

  void look_at_config(const Sign& sign) {
    const auto text = workload_.object.at("spec.serveConfigV2").text();
    if (text.find(sign.pattern) == std::string_view::npos) return;
    take(sign, fmt::format("serveConfigV2 has {}", sign.pattern));
  }

  // The one container waits, whatever its image could do. Where there are several pods, one may be told by another what to
  // do, as an MPIJob's workers are.
  void by_waiting() {
    if (workload_.pods.size() != 1) return;
    const auto& containers = workload_.pods.front().containers;
    const auto works = [](const Container& container) {
      return !container.init && !container.sidecar;
    };
    if (std::ranges::count_if(containers, works) != 1) return;
    const auto only = std::ranges::find_if(containers, works);
    if (!only->gpus.any || only->words.empty() || !only_sleeps(*only)) return;
    evidence_.purpose = Purpose::benchmark;
    evidence_.reasons.push_back(fmt::format("container '{}' only sleeps", only->name));
  }

  void by_idleness() {
    for (const Pod& pod : workload_.pods) {
      for (const Container& container : pod.containers) {
        if (!container.gpus.any) continue;
        const bool idle =
            !container.words.empty() && (only_sleeps(container) || only_shows(container));
        if (!idle && !only_holds_a_place(container)) continue;
        evidence_.purpose = Purpose::benchmark;
        evidence_.reasons.push_back(
            fmt::format("container '{}' only sleeps, prints or shows its GPUs", container.name));
        return;
      }
    }
  }

  void by_kind() {
    for (const Pod& pod : workload_.pods) {
      if (pod.row->purpose == Purpose::unknown) continue;
      evidence_.purpose = pod.row->purpose;
      evidence_.reasons.push_back(
          fmt::format("kind {}: {}", workload_.kind, to_string(evidence_.purpose)));
      return;
    }
  }

  // What its name calls a test, where nothing tells what it runs.
  void by_test_name() {
    const auto name = workload_.object.at("metadata.name").text();
    const bool test = has_part(name, "nccl") && (has_part(name, "test") || has_part(name, "tests"));
    if (!test && !has_part(name, "smoke") && !has_part(name, "benchmark") &&
        !has_part(name, "bench") && !has_part(name, "mfu"))
      return;
    evidence_.purpose = Purpose::benchmark;
    evidence_.reasons.push_back(fmt::format("it is called {}: benchmark", name));
  }

  // A Job that is called so, where nothing else tells what it runs (an image that is filled in later).
  void by_name() {
    if (workload_.kind != "Job" && workload_.kind != "JobSet" && workload_.kind != "RayJob") return;
    const auto name = workload_.object.at("metadata.name").text();
    constexpr std::array<std::string_view, 3> words = {"finetun", "fine-tun", "training"};
    const bool named = std::ranges::any_of(
        words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
    if (!named && !has_part(name, "train") && !has_part(name, "trainer")) return;
    evidence_.purpose = Purpose::training;
    evidence_.reasons.push_back(fmt::format("it is called {}: training", name));
  }

  const Workload& workload_;
  Evidence evidence_;
};

}  // namespace

const char* to_string(Framework framework) {
  switch (framework) {
    case Framework::none: return "unknown";
    case Framework::vllm: return "vLLM";
    case Framework::sglang: return "SGLang";
    case Framework::tgi: return "TGI";
    case Framework::triton: return "Triton";
    case Framework::ollama: return "Ollama";
    case Framework::llama_cpp: return "llama.cpp";
    case Framework::llama_swap: return "llama-swap";
    case Framework::torch: return "PyTorch";
    case Framework::tensorflow: return "TensorFlow";
    case Framework::jax: return "JAX";
    case Framework::mindspore: return "MindSpore";
    case Framework::ray: return "Ray";
    case Framework::nccl_tests: return "nccl-tests";
  }
  return "unknown";
}

Evidence evidence_of(const Workload& workload) { return Judge(workload).judge(); }

}  // namespace stoker::lint::kubernetes
