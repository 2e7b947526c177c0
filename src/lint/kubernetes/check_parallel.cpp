// Analyzer stage: how many ranks a server or launcher starts, against the GPUs that it gets.
#include <algorithm>

#include "base/text.h"
#include "lint/kubernetes/ranks.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

// Does more than this pod take part, in a number that is not known here?
bool is_spread(const Subject& subject, const Container& container) {
  if (subject.workload.kind == "LeaderWorkerSet") return false;
  // A launcher's number is that of a node, which is a pod.
  if (subject.evidence.framework == Framework::torch) return false;
  return has_word(container, "ray") ||
         has_option(container, {"--nnodes", "--node-rank", "--data-parallel-address",
                                "--data-parallel-size-local", "--distributed-executor-backend",
                                "--headless", "--dist-init-addr"});
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

// Ray counts GPUs by num-gpus, and by what it sees where nothing is said
// (https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html#resources). None at all is how a head is kept
// free of work.
void check_ray(const Subject& subject, const Pod& pod, const Container& container) {
  yaml::View told = pod.owner.at("rayStartParams.num-gpus");
  std::string text(told.text());
  if (const auto option = option_of(container, {"--num-gpus"});
      option && has_word(container, "ray")) {
    told = option->from;
    text = option->text;
  }
  const auto number = whole_number<int>(text);
  if (!number || *number < 1 || !container.gpus.count || *number == *container.gpus.count) return;
  const bool above = *number > *container.gpus.count;
  subject.add(above ? RuleId::parallel_above_gpus : RuleId::parallel_below_gpus, told.place(),
              fmt::format("{} tells Ray of {} GPU{}, and has {}", subject.name_of(container),
                          *number, *number == 1 ? "" : "s", *container.gpus.count));
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
      check_ray(subject, pod, container);
      if (pod.row->gives == Gives::nothing && !is_spread(subject, container)) {
        compare(subject, container, ranks_of(subject, container));
      }
    }
  }
}

}  // namespace stoker::lint::kubernetes
