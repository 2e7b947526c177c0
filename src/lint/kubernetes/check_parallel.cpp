// Analyzer stage: how many ranks a server or launcher starts, against the GPUs that it gets.
#include <algorithm>

#include "base/text.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

// A number of ranks, and what it was made from.
struct Ranks {
  std::int64_t count = 1;
  std::string text;
  yaml::View from;
  bool known = true;    // false: an option whose value is not known here
  bool stated = false;  // the command says it
};

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

// Does more than this pod take part, in a number that is not known here?
bool is_spread(const Subject& subject, const Container& container) {
  if (subject.workload.kind == "LeaderWorkerSet") return false;
  return has_word(container, "ray") ||
         has_option(container, {"--nnodes", "--node-rank", "--data-parallel-address",
                                "--data-parallel-size-local", "--distributed-executor-backend",
                                "--headless", "--dist-init-addr"});
}

Ranks vllm_ranks(const Container& container) {
  Ranks ranks;
  times(ranks, container, "tensor parallel", {"--tensor-parallel-size", "-tp"});
  times(ranks, container, "pipeline parallel", {"--pipeline-parallel-size", "-pp"});
  times(ranks, container, "data parallel", {"--data-parallel-size", "-dp"});
  // One rank is the default, where the command is vLLM's own and nothing else may set it.
  // https://docs.vllm.ai/projects/vllm-omni: the stages of --omni have sizes of their own.
  const bool elsewhere = has_option(container, {"--config", "--omni", "--stage-configs-path"}) ||
                         container.may_gain("command") || container.may_gain("args");
  if (!ranks.stated && !elsewhere && !container.words.empty()) {
    const auto server = std::ranges::find_if(container.words, [](const Word& word) {
      return base_name(word.text) == "vllm" || word.text.starts_with("vllm.entrypoints");
    });
    if (server != container.words.end()) {
      ranks.stated = true;
      ranks.text = "tensor parallel 1, the default";
      ranks.from = server->from;
    }
  }
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
  return ranks;
}

Ranks ranks_of(const Subject& subject, const Container& container) {
  Ranks ranks;
  switch (subject.evidence.framework) {
    case Framework::vllm: return vllm_ranks(container);
    case Framework::sglang: return sglang_ranks(container);
    case Framework::tgi:
      times(ranks, container, "shards", {"--num-shard"}, "NUM_SHARD");
      return ranks;
    case Framework::torch:
      times(ranks, container, "processes a node", {"--nproc-per-node", "--nproc_per_node"});
      return ranks;
    default: return ranks;
  }
}

// The pods that serve as one: the size of a LeaderWorkerSet's group, else 1; nullopt: not known.
std::optional<int> pods_together(const Subject& subject) {
  if (subject.workload.kind != "LeaderWorkerSet" || subject.evidence.framework == Framework::torch)
    return 1;
  const yaml::View size = subject.workload.object.at("spec.leaderWorkerTemplate.size");
  return size.is_null() ? std::optional<int>(1) : whole_number<int>(size.text());
}

void compare(const Subject& subject, const Container& container, const Ranks& ranks) {
  const auto pods = pods_together(subject);
  if (!ranks.stated || !ranks.known || !container.gpus.count || !pods) return;
  const std::int64_t gpus = std::int64_t{*container.gpus.count} * *pods;
  if (ranks.count == gpus || gpus < 1) return;
  const bool above = ranks.count > gpus;
  subject.add(
      above ? RuleId::parallel_above_gpus : RuleId::parallel_below_gpus, ranks.from.place(),
      fmt::format("{} starts {} rank{} ({}) on {} GPU{}{}", subject.name_of(container), ranks.count,
                  ranks.count == 1 ? "" : "s", ranks.text, gpus, gpus == 1 ? "" : "s",
                  *pods > 1 ? fmt::format(" of {} pods", *pods) : ""));
}

void check_share(const Subject& subject, const Container& container) {
  const auto option = option_of(container, {"--gpu-memory-utilization", "--mem-fraction-static"});
  if (!option) return;
  char* end = nullptr;
  const double share = std::strtod(option->text.c_str(), &end);
  if (end == option->text.c_str() || *end != '\0' || (share > 0 && share <= 1)) return;
  subject.add(RuleId::memory_share, option->from.place(),
              fmt::format("{} is to use {} of each GPU's memory", subject.name_of(container),
                          option->text));
}

}  // namespace

void check_parallel(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (!container.gpus.any || container.init || pod.partial) continue;
      check_share(subject, container);
      if (pod.row->gives == Gives::nothing && !is_spread(subject, container)) {
        compare(subject, container, ranks_of(subject, container));
      }
    }
  }
}

}  // namespace stoker::lint::kubernetes
