#include "lint/kubernetes/ranks.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "lint/kubernetes/script_words.h"

namespace stoker::lint::kubernetes {
namespace {

// Multiplies by the option `names` (or `variable`), if it is there.
void times(Ranks& ranks, const Container& container, std::string_view name,
           std::initializer_list<std::string_view> names, std::string_view variable = {}) {
  const auto option = option_of(container, names);
  const EnvVar* set = variable.empty() ? nullptr : container.variable(variable);
  if (!option && set == nullptr) return;
  const auto number = number_of(container, names, variable);
  ranks.stated = true;
  ranks.from = option ? option->from : set->value;
  if (!number || *number < 1 || *number > 100000) {
    ranks.known = false;
    return;
  }
  ranks.count *= *number;
  if (ranks.count > 1000000) ranks.known = false;
  ranks.text += fmt::format("{}{} {}", ranks.text.empty() ? "" : " x ", name, *number);
}

// Of a command that is found by `is_command`: one rank, where nothing says another number.
void by_default(Ranks& ranks, const Container& container, std::string_view name,
                const std::function<bool(const Word&)>& is_command) {
  const bool elsewhere = has_option(container, {"--config"}) || container.may_gain("command") ||
                         container.may_gain("args");
  if (ranks.stated || elsewhere) return;
  const auto command = std::ranges::find_if(container.words, is_command);
  if (command == container.words.end()) return;
  ranks.stated = true;
  ranks.text = fmt::format("{} 1, the default", name);
  ranks.from = command->from;
}

Ranks vllm_ranks(const Container& container) {
  Ranks ranks;
  times(ranks, container, "tensor parallel", {"--tensor-parallel-size", "-tp"});
  times(ranks, container, "pipeline parallel", {"--pipeline-parallel-size", "-pp"});
  times(ranks, container, "data parallel", {"--data-parallel-size", "-dp"});
  // https://docs.vllm.ai/projects/vllm-omni: the stages of --omni have sizes of their own. The image vllm-openai starts the
  // server by itself (docker/Dockerfile of vllm-project/vllm).
  if (has_option(container, {"--omni", "--stage-configs-path"})) return ranks;
  by_default(ranks, container, "tensor parallel", [&](const Word& word) {
    return base_name(word.text) == "vllm" || word.text.starts_with("vllm.entrypoints") ||
           (container.image.text().find("vllm-openai") != std::string_view::npos &&
            container.view.find("command").is_null());
  });
  return ranks;
}

Ranks sglang_ranks(const Container& container) {
  Ranks ranks;
  times(ranks, container, "tensor parallel", {"--tensor-parallel-size", "--tp-size", "--tp"});
  times(ranks, container, "pipeline parallel", {"--pipeline-parallel-size", "--pp-size", "--pp"});
  // With DP attention the data parallel groups lie inside the tensor parallel one.
  if (!has_option(container, {"--enable-dp-attention"})) {
    times(ranks, container, "data parallel", {"--data-parallel-size", "--dp-size", "--dp"});
  }
  by_default(ranks, container, "tensor parallel",
             [](const Word& word) { return word.text.starts_with("sglang.launch_server"); });
  return ranks;
}

// https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html
Ranks tensorrt_ranks(const Container& container) {
  Ranks ranks;
  times(ranks, container, "tensor parallel", {"--tp-size"});
  times(ranks, container, "pipeline parallel", {"--pp-size"});
  if (has_option(container, {"--extra-llm-api-options", "--config", "--backend"})) return ranks;
  by_default(ranks, container, "tensor parallel",
             [](const Word& word) { return base_name(word.text) == "trtllm-serve"; });
  return ranks;
}

// accelerate counts the processes of all machines (https://huggingface.co/docs/accelerate/package_reference/cli).
Ranks accelerate_ranks(const Container& container) {
  Ranks ranks;
  if (has_option(container, {"--config-file", "--cpu", "--tpu"})) return ranks;
  times(ranks, container, "processes", {"--num-processes", "-n"});
  if (!ranks.stated || !ranks.known) return ranks;
  const auto machines = option_of(container, {"--num-machines"});
  const auto number = machines ? whole_number<int>(machines->text) : std::optional<int>(1);
  if (!number || *number < 1 || ranks.count % *number != 0) {
    ranks.known = false;
    return ranks;
  }
  ranks.count /= *number;
  if (*number > 1) ranks.text += fmt::format(" over {} machines", *number);
  return ranks;
}

// The operator of PyTorchJobs sets PET_NPROC_PER_NODE from spec.nprocPerNode: a number, or auto, cpu or gpu
// (kubeflow/training-operator sdk/python/docs/KubeflowOrgV1PyTorchJobSpec.md).
void by_operator(Ranks& ranks, const Subject& subject, const Container& container) {
  if (subject.workload.kind != "PyTorchJob" || container.may_gain("env")) return;
  const yaml::View value = subject.workload.object.at("spec.nprocPerNode");
  const auto number = whole_number<int>(value.text());
  const bool launched = std::ranges::any_of(container.words, [](const Word& word) {
    return base_name(word.text) == "torchrun" || word.text.starts_with("torch.distributed.run");
  });
  if (!launched || !number || *number < 1 || *number > 100000) return;
  ranks.stated = true;
  ranks.count = *number;
  ranks.text = fmt::format("nprocPerNode {}", *number);
  ranks.from = value;
}

// Of a launcher the ranks of one node, which is a pod. deepspeed takes every GPU where it is told nothing
// (https://www.deepspeed.ai/getting-started/#resource-configuration-multi-node), torchrun one process
// (https://docs.pytorch.org/docs/stable/elastic/run.html), unless an operator sets PET_NPROC_PER_NODE.
Ranks launcher_ranks(const Subject& subject, const Container& container) {
  if (has_word(container, "accelerate")) return accelerate_ranks(container);
  Ranks ranks;
  if (has_word(container, "deepspeed")) {
    if (has_option(container, {"--include", "--exclude", "-i", "-e"})) return ranks;
    times(ranks, container, "GPUs a node", {"--num-gpus"});
    return ranks;
  }
  times(ranks, container, "processes a node", {"--nproc-per-node"}, "PET_NPROC_PER_NODE");
  if (!ranks.stated) by_operator(ranks, subject, container);
  const bool operated = subject.workload.group.find("kubeflow") != std::string_view::npos ||
                        container.view.find("envFrom").exists() || container.may_gain("env");
  const auto starts = std::ranges::count_if(
      container.words, [](const Word& word) { return base_name(word.text) == "torchrun"; });
  if (operated || starts != 1) return ranks;
  by_default(ranks, container, "processes a node",
             [](const Word& word) { return base_name(word.text) == "torchrun"; });
  return ranks;
}

}  // namespace

bool has_option(const Container& container, std::initializer_list<std::string_view> names) {
  return option_of(container, names).has_value() ||
         std::ranges::any_of(container.words, [&](const Word& word) {
           return std::ranges::find(names, word.text) != names.end();
         });
}

bool has_word(const Container& container, std::string_view wanted) {
  return std::ranges::any_of(container.words,
                             [&](const Word& word) { return base_name(word.text) == wanted; });
}

Ranks ranks_of(const Subject& subject, const Container& container) {
  Ranks ranks;
  switch (subject.evidence.framework) {
    case Framework::vllm: return vllm_ranks(container);
    case Framework::sglang: return sglang_ranks(container);
    case Framework::tgi:
      times(ranks, container, "shards", {"--num-shard"}, "NUM_SHARD");
      return ranks;
    case Framework::triton: return tensorrt_ranks(container);
    case Framework::torch: return launcher_ranks(subject, container);
    default: return ranks;
  }
}

}  // namespace stoker::lint::kubernetes
