// Batch scripts: options that exclude one another, and launchers that do not fit what was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "lint/env/env_text.h"
#include "lint/slurm/batch_options.h"
#include "lint/slurm/slurm_report.h"

namespace stoker::lint {
namespace {

void check_excluding(const BatchScript& script, SlurmReport& report) {
  struct Row {
    std::string_view rule, one, other;
  };
  constexpr auto rows =
      std::to_array<Row>({{"sbatch-memory", "mem", "mem-per-cpu"},
                          {"sbatch-memory", "mem", "mem-per-gpu"},
                          {"sbatch-memory", "mem-per-cpu", "mem-per-gpu"},
                          {"sbatch-cpus", "cpus-per-task", "cpus-per-gpu"},
                          {"sbatch-tasks-per-gpu", "ntasks-per-gpu", "gpus-per-task"},
                          {"sbatch-tasks-per-gpu", "ntasks-per-gpu", "gpus-per-socket"},
                          {"sbatch-tasks-per-gpu", "ntasks-per-gpu", "ntasks-per-node"}});
  for (const auto& row : rows) {
    const auto* one = script.option(row.one);
    const auto* other = script.option(row.other);
    if (one == nullptr || other == nullptr) continue;
    report.add(
        row.rule, other->place,
        fmt::format("--{} stands in line {} and --{} here", row.one, one->place.line, row.other));
  }
  const auto* gres = script.option("gres");
  const auto* per_node = script.option("gpus-per-node");
  if (gres != nullptr && per_node != nullptr && lower_case(gres->value).starts_with("gpu")) {
    report.add("sbatch-gpus-and-gres", per_node->place,
               fmt::format("--gres={} stands in line {}", gres->value, gres->place.line));
  }
  const auto* per_task = script.option("gpus-per-task");
  const bool tasks =
      std::ranges::any_of(std::to_array<std::string_view>({"ntasks", "gpus", "ntasks-per-node"}),
                          [&](std::string_view name) { return script.option(name) != nullptr; });
  if (per_task != nullptr && !tasks) {
    report.add("sbatch-gpus-per-task", per_task->place, "nothing says how many tasks there are");
  }
}

void check_cpus(const BatchScript& script, SlurmReport& report) {
  if (!asks_for_gpus(script)) return;
  constexpr auto says =
      std::to_array<std::string_view>({"cpus-per-task", "cpus-per-gpu", "exclusive", "ntasks",
                                       "ntasks-per-node", "mincpus", "ntasks-per-gpu"});
  if (std::ranges::any_of(says, [&](auto name) { return script.option(name) != nullptr; })) return;
  const auto* at = script.option("gpus-per-node");
  for (const auto* name : {"gres", "gpus", "gpus-per-task", "gpus-per-socket"}) {
    if (at == nullptr) at = script.option(name);
  }
  report.add("sbatch-one-cpu", at->place, "nothing asks for CPUs");
}

// The value behind `--name=` or `--name `, either spelling of '-' and '_'; "": it is not there.
std::string argument_of(const std::string& command, std::string_view name) {
  std::string dashes = command;
  std::ranges::replace(dashes, '_', '-');
  for (auto at = dashes.find(name); at != std::string::npos; at = dashes.find(name, at + 1)) {
    const auto end = at + name.size();
    if (at == 0 || dashes[at - 1] != ' ' || end >= dashes.size()) continue;
    if (dashes[end] != '=' && dashes[end] != ' ') continue;
    const auto begin = command.find_first_not_of(' ', end + 1);
    if (begin == std::string::npos) return {};
    return command.substr(begin, command.find_first_of(" \"'", begin) - begin);
  }
  return {};
}

bool starts_word(const std::string& command, std::string_view word) {
  for (auto at = command.find(word); at != std::string::npos; at = command.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || command[at - 1] == ' ' || command[at - 1] == '/' ||
                        command[at - 1] == '"' || command[at - 1] == '\'';
    if (begins && (end == command.size() || command[end] == ' ')) return true;
  }
  return false;
}

bool is_torchrun(const std::string& command) {
  return starts_word(command, "torchrun") || starts_word(command, "torch.distributed.run") ||
         starts_word(command, "torch.distributed.launch");
}

// Whatever else may start processes on other nodes.
bool reaches_nodes(const BatchScript& script) {
  return std::ranges::any_of(script.commands, [](const BatchScript::Command& command) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"srun", "mpirun", "mpiexec", "ssh", "pdsh", "clush",
                                         "parallel", "orterun", "prun", "source", "."}),
        [&](std::string_view word) { return starts_word(command.text, word); });
  });
}

void check_process_count(const BatchScript& script, const BatchScript::Command& command,
                         SlurmReport& report) {
  const auto processes = whole_number<long long>(argument_of(command.text, "--nproc-per-node"));
  const auto gpus = gpus_per_node(script);
  if (!processes || !gpus || *processes == *gpus) return;
  report.add(*processes > *gpus ? "sbatch-processes" : "sbatch-idle-gpus", command.place,
             fmt::format("{} processes are started on a node, for which {} GPUs are asked",
                         *processes, *gpus));
}

void check_launcher(const BatchScript& script, const BatchScript::Command& command,
                    SlurmReport& report) {
  check_process_count(script, command, report);
  const auto nodes = nodes_of(script);
  const bool by_srun = starts_word(command.text, "srun");
  const auto waits_for = whole_number<long long>(argument_of(command.text, "--nnodes"));
  if (waits_for && nodes && *waits_for > 1 && *waits_for != *nodes) {
    report.add("sbatch-nnodes", command.place,
               fmt::format("--nnodes is {}, the job has {} nodes", *waits_for, *nodes));
  }
  const auto tasks = tasks_per_node(script);
  const bool srun_says = !argument_of(command.text, "--ntasks-per-node").empty() ||
                         !argument_of(command.text, "--ntasks").empty() ||
                         !argument_of(command.text, "-n").empty();
  if (by_srun && !srun_says && tasks && *tasks > 1) {
    report.add("sbatch-launcher-repeated", command.place,
               fmt::format("srun starts the launcher {} times on each node", *tasks));
  }
  if (nodes && *nodes > 1 && !reaches_nodes(script)) {
    report.add("sbatch-one-node", command.place,
               fmt::format("the job has {} nodes, and nothing starts on the others", *nodes));
  }
}

void check_visible_devices(const BatchScript& script, std::span<const Variable> variables,
                           SlurmReport& report) {
  const auto gpus = gpus_per_node(script);
  for (const auto& variable : variables) {
    if (variable.name != "CUDA_VISIBLE_DEVICES" || !variable.value || !gpus) continue;
    const auto devices = split_outside_brackets(*variable.value);
    long long highest = -1;
    bool all_numbers = !devices.empty();
    for (const auto& device : devices) {
      const auto index = whole_number<long long>(device);
      all_numbers = all_numbers && index;
      highest = std::max(highest, index.value_or(-1));
    }
    if (!all_numbers) continue;
    const auto many = static_cast<long long>(devices.size());
    if (many == *gpus && highest == *gpus - 1) continue;
    report.add("sbatch-visible-devices", variable.place,
               fmt::format("it names {} GPUs up to number {}; a node has {} for this job", many,
                           highest, *gpus));
  }
}

}  // namespace

std::vector<Finding> lint_batch_script(std::string_view text, const std::string& file,
                                       const EnvContext& context) {
  SlurmReport report;
  const auto script = read_batch_script(text, file);
  for (const auto& late : script.late) {
    report.add(
        "sbatch-late", late.place,
        fmt::format("the first command stands in line {}", script.commands.front().place.line),
        {late.value});
  }
  const auto variables = read_environment_text(text, file, EnvReader::script);
  if (!script.heterogeneous && !script.templated) {
    check_excluding(script, report);
    check_cpus(script, report);
    for (const auto& command : script.commands) {
      if (is_torchrun(command.text)) check_launcher(script, command, report);
    }
    check_visible_devices(script, variables, report);
  }
  auto found = report.take();
  EnvContext of_job = context;
  of_job.reader = EnvReader::script;
  if (const auto nodes = nodes_of(script); nodes && !of_job.several_hosts) {
    of_job.several_hosts = *nodes > 1;
  }
  auto more = lint_environment(variables, of_job);
  found.insert(found.end(), more.begin(), more.end());
  sort_findings(found);
  return found;
}

}  // namespace stoker::lint
