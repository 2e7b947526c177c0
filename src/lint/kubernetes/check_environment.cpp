// Analyzer stage: variables that somebody left on, or set against the device plugin. What else NCCL and torch make of
// their variables is said by src/lint/env.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/env/environment.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

struct Debugging {
  std::string_view name;
  std::string_view value;
};

// NCCL: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug. PyTorch:
// https://docs.pytorch.org/docs/stable/distributed.html#debugging (DETAIL checks every collective with another).
// CUDA: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#env-vars (each launch waits for the last).
constexpr std::array<Debugging, 5> debugging = {{{"NCCL_DEBUG", "INFO"},
                                                 {"NCCL_DEBUG", "TRACE"},
                                                 {"NVSHMEM_DEBUG", "TRACE"},
                                                 {"TORCH_DISTRIBUTED_DEBUG", "DETAIL"},
                                                 {"CUDA_LAUNCH_BLOCKING", "1"}}};

bool is_debugging(std::string_view name, std::string_view value) {
  return std::ranges::any_of(
      debugging, [&](const Debugging& row) { return row.name == name && row.value == value; });
}

void check_debugging(const Subject& subject, const Container& container) {
  const auto take = [&](std::string_view name, std::string_view value, yaml::View from) {
    if (!is_debugging(name, value)) return;
    // A chart that sets it only where somebody asks for it.
    if (subject.source.depth_at(from.place().line) >
        subject.source.depth_at(container.place().line))
      return;
    subject.add(RuleId::debug_left, from.place(),
                fmt::format("{} runs with {}={}", subject.name_of(container), name, value));
  };
  for (const EnvVar& variable : container.env) {
    take(variable.name, variable.value.text(), variable.entry);
  }
  for (const Word& word : container.words) {
    const auto equals = word.text.find('=');
    if (equals == std::string_view::npos) continue;
    take(word.text.substr(0, equals), word.text.substr(equals + 1), word.from);
  }
}

// Told by check_debugging(), which knows what the container is for.
bool is_about_debugging(const Finding& finding) {
  return finding.rule.starts_with("nccl-debug") || finding.rule == "cuda-launch-blocking";
}

// What src/lint/env says of the container's variables.
void check_variables(const Subject& subject, const Container& container) {
  std::vector<Variable> variables;
  for (const EnvVar& each : container.env) {
    const yaml::View at = each.value.is_scalar() ? each.value : each.entry;
    const auto place = at.place();
    std::optional<std::string> value;
    if (each.value.is_scalar()) value = each.value.text();
    variables.push_back({std::string(each.name),
                         std::move(value),
                         {std::string(subject.file), place.line, place.column}});
  }
  if (variables.empty()) return;
  auto found =
      lint_environment(variables, {.nccl = {}, .several_hosts = {}, .reader = EnvReader::list});
  std::erase_if(found, is_about_debugging);
  subject.findings.insert(subject.findings.end(), std::make_move_iterator(found.begin()),
                          std::make_move_iterator(found.end()));
}

// In a container GPUs are counted from 0; at the first that is not there CUDA stops reading the list
// (https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables).
void check_devices(const Subject& subject, const Container& container) {
  const EnvVar* devices = container.variable("CUDA_VISIBLE_DEVICES");
  if (devices == nullptr || !devices->value.is_scalar() || !container.gpus.count) return;
  auto list = devices->value.text();
  while (!list.empty()) {
    const auto one = trimmed(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(std::min(list.find(','), list.size()) + 1, list.size()));
    const auto number = whole_number<int>(one);
    if (!number) return;
    if (*number < *container.gpus.count) continue;
    return subject.add(RuleId::cuda_devices_beyond, devices->entry.place(),
                       fmt::format("{} names GPU {} of {} (counted from 0) in CUDA_VISIBLE_DEVICES",
                                   subject.name_of(container), *number, *container.gpus.count));
  }
}

}  // namespace

void check_environment(const Subject& subject) {
  if (subject.evidence.purpose == Purpose::system) return;
  // A test may look closely; which GPUs it sees is the device plugin's business in a test too.
  const bool work = is_work(subject.evidence);
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (work) check_debugging(subject, container);
      if (work && container.gpus.any) check_variables(subject, container);
      check_devices(subject, container);
      const EnvVar* visible = container.variable("NVIDIA_VISIBLE_DEVICES");
      if (visible == nullptr || !container.gpus.any || !visible->value.is_scalar()) continue;
      subject.add(
          RuleId::visible_devices_by_hand, visible->entry.place(),
          fmt::format("{} asks for {} and sets NVIDIA_VISIBLE_DEVICES to '{}'",
                      subject.name_of(container), container.gpus.resource, visible->value.text()));
    }
  }
}

}  // namespace stoker::lint::kubernetes
