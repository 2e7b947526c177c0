// Analyzer stage: whether a model, and the longest request that its server promises, can fit the memory of its GPUs.
#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "lint/kubernetes/model_memory.h"
#include "lint/kubernetes/ranks.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

std::optional<OptionValue> served_model(const Container& container) {
  if (auto option = option_of(container, {"--model", "--model-id", "--model-path"})) return option;
  for (std::size_t i = 0; i + 1 < container.words.size(); ++i) {
    const Word& next = container.words[i + 1];
    if (container.words[i].text == "serve")
      return OptionValue{expanded(container, next.text), next.from};
  }
  return std::nullopt;
}

// Weights as small as the options may make them: who asks for a quantization gets at least four bits a weight.
double bytes_by_options(const Container& container, double by_name) {
  const bool asked = has_option(container, {"--quantization", "-q", "--quantize", "--load-format",
                                            "--torchao-config", "--hf-overrides"});
  return asked ? std::min(by_name, 0.5) : by_name;
}

// The part of the memory that the server uses. vLLM's default is 0.9, in later versions 0.92
// (https://docs.vllm.ai/en/latest/configuration/engine_args.html), SGLang finds its own; nothing known is all of it.
double share_of(const Subject& subject, const Container& container) {
  const auto option = option_of(container, {"--gpu-memory-utilization"});
  if (!option) return subject.evidence.framework == Framework::vllm ? 0.95 : 1.0;
  const double share = std::strtod(option->text.c_str(), nullptr);
  return share > 0 && share <= 1 ? share : 1.0;
}

// Tokens of the longest request that vLLM has to have memory for at its start, or else it ends
// (vllm/v1/core/kv_cache_utils.py, check_enough_kv_cache_memory); 0: not said.
double promised_tokens(const Subject& subject, const Container& container) {
  if (subject.evidence.framework != Framework::vllm) return 0;
  const bool smaller = has_option(container, {"--kv-cache-dtype", "--cpu-offload-gb"});
  return smaller ? 0 : number_of(container, {"--max-model-len"}).value_or(0);
}

// GPUs that the server may spread over; nullopt: not known. Parts of a card it can't join.
std::optional<double> gpus_of_server(const Container& container, const Ranks& ranks) {
  if (container.gpus.count)
    return std::max<double>(static_cast<double>(ranks.count), *container.gpus.count);
  const bool one_part = container.gpus.resource.starts_with("nvidia.com/mig-") &&
                        container.limits.find(container.gpus.resource).text() == "1";
  return one_part && ranks.count == 1 ? std::optional<double>(1) : std::nullopt;
}

void check_server_memory(const Subject& subject, const Pod& pod, const Container& container) {
  const auto model = served_model(container);
  const auto size = model ? size_of_model(model->text) : std::nullopt;
  const auto each = gpu_gigabytes(pod, container);
  const Ranks ranks = ranks_of(subject, container);
  if (!size || !each || !ranks.known || container.may_gain("args")) return;
  if (has_option(container, {"--cpu-offload-gb", "--data-parallel-size", "-dp", "--dp-size"}))
    return;
  const auto gpus = gpus_of_server(container, ranks);
  if (!gpus) return;
  const double have = *each * *gpus * share_of(subject, container);
  const double weights =
      size->billions * 1e9 * bytes_by_options(container, size->bytes_each) / 0x1p30;
  const double tokens = promised_tokens(subject, container);
  const double cache = tokens * size->bytes_a_token / 0x1p30;
  if (weights <= have && weights + cache <= have) return;
  const auto on = fmt::format("{:g} GPU{} of {:g} GB", *gpus, *gpus > 1 ? "s" : "", *each);
  if (weights > have) {
    return subject.add(RuleId::model_too_large, model->from.place(),
                       fmt::format("{} serves {}, whose weights alone take {:.0f} GiB, on {}",
                                   subject.name_of(container), model->text, weights, on));
  }
  subject.add(RuleId::model_too_large, model->from.place(),
              fmt::format("{} serves {} on {}: {:.0f} GiB of weights and {:.0f} GiB for one "
                          "request of {:.0f} tokens",
                          subject.name_of(container), model->text, on, weights, cache, tokens));
}

}  // namespace

void check_memory(const Subject& subject) {
  if (subject.workload.kind == "LeaderWorkerSet") return;
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (container.gpus.any && !container.init && !pod.partial &&
          pod.row->gives == Gives::nothing && !has_word(container, "ray"))
        check_server_memory(subject, pod, container);
    }
  }
}

}  // namespace stoker::lint::kubernetes
