// slurm.conf(5) and cgroup.conf(5) as far as they are about GPUs, and whether the files agree.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "lint/slurm/slurm_report.h"

namespace stoker::lint {
namespace {

constexpr auto slurm_rows = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, severity, title, why, fix, source, fixing) \
  {id, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/slurm/rules.def"
#undef STOKER_LINT_RULE
});

// The last line that sets `key` for the whole cluster, not for a node or partition.
const SlurmParameter* setting(const SlurmLines& lines, std::string_view key) {
  const SlurmParameter* found = nullptr;
  for (const auto& line : lines) {
    if (parameter_of(line, "nodename") != nullptr ||
        parameter_of(line, "partitionname") != nullptr) {
      continue;
    }
    if (const auto* parameter = parameter_of(line, key)) found = parameter;
  }
  return found;
}

bool includes_others(const SlurmLines& lines) {
  return std::ranges::any_of(lines,
                             [](const SlurmLine& line) { return line.front().key == "include"; });
}

std::vector<std::string> words_of_setting(const SlurmParameter* parameter) {
  if (parameter == nullptr) return {};
  return split_outside_brackets(lower_case(parameter->value));
}

bool lists(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool names_gpus(const SlurmLines& lines) {
  if (lists(words_of_setting(setting(lines, "grestypes")), "gpu")) return true;
  return std::ranges::any_of(lines, [](const SlurmLine& line) {
    const auto* gres = parameter_of(line, "gres");
    return gres != nullptr && lower_case(gres->value).starts_with("gpu");
  });
}

void check_nodes(const SlurmLines& lines, SlurmReport& report) {
  const auto types = words_of_setting(setting(lines, "grestypes"));
  std::set<std::string> said;
  for (const auto& line : lines) {
    const auto* gres = parameter_of(line, "gres");
    if (gres == nullptr || parameter_of(line, "nodename") == nullptr) continue;
    std::map<std::string, int> typed;  // 1 with a type, 2 without
    for (const auto& entry : gres_entries(gres->value)) {
      if (!includes_others(lines) && !lists(types, entry.name) && said.insert(entry.name).second) {
        report.add("slurm-grestypes", gres->place,
                   fmt::format("GresTypes does not name '{}'", entry.name),
                   {fmt::format("Gres={}", gres->value)});
      }
      typed[entry.name] |= entry.type.empty() ? 2 : 1;
    }
    for (const auto& [name, both] : typed) {
      if (both != 3) continue;
      report.add("slurm-gres-typed", gres->place,
                 fmt::format("'{}' stands with and without a type", name));
    }
  }
}

void check_plugins(const SlurmLines& lines, SlurmReport& report) {
  const auto* types = setting(lines, "grestypes");
  const auto* select = setting(lines, "selecttype");
  if (select != nullptr && (lower_case(select->value) == "select/linear" ||
                            lower_case(select->value) == "select/cons_res")) {
    report.add("slurm-select", select->place, fmt::format("SelectType is {}", select->value));
  }
  if (includes_others(lines)) return;
  const auto* task = setting(lines, "taskplugin");
  const auto plugins = words_of_setting(task);
  const auto* at = task != nullptr ? task : types;
  if (at != nullptr && !lists(plugins, "task/cgroup") && !lists(plugins, "cgroup")) {
    report.add(
        "slurm-task-plugin", at->place,
        task == nullptr ? "there is no TaskPlugin" : fmt::format("TaskPlugin is {}", task->value));
  }
}

void check_tres(const SlurmLines& lines, SlurmReport& report) {
  const auto* storage = setting(lines, "accountingstoragetype");
  if (storage == nullptr || lower_case(storage->value) != "accounting_storage/slurmdbd") return;
  const auto* tres = setting(lines, "accountingstoragetres");
  const auto words = words_of_setting(tres);
  if (lists(words, "gres/gpu")) return;
  const bool typed = std::ranges::any_of(
      words, [](const std::string& word) { return word.starts_with("gres/gpu:"); });
  if (typed) {
    report.add("slurm-tres-typed", tres->place,
               fmt::format("AccountingStorageTRES is {}", tres->value));
  } else if (tres != nullptr || !includes_others(lines)) {
    report.add("slurm-tres", tres == nullptr ? storage->place : tres->place,
               "AccountingStorageTRES does not name gres/gpu");
  }
}

void check_memory_defaults(const SlurmLines& lines, SlurmReport& report) {
  const SlurmParameter* first = nullptr;
  for (const auto* key : {"defmempercpu", "defmempergpu", "defmempernode"}) {
    const auto* parameter = setting(lines, key);
    if (parameter == nullptr) continue;
    if (first != nullptr) {
      report.add("slurm-def-mem", parameter->place,
                 fmt::format("line {} sets another default", first->place.line));
      return;
    }
    first = parameter;
  }
}

// GPUs of each name of nodes, as written; only what both files spell alike is compared.
std::map<std::string, long long> gpus_of_gres(const SlurmLines& lines) {
  std::map<std::string, long long> gpus;
  for (const auto& line : lines) {
    const auto* nodes = parameter_of(line, "nodename");
    const auto* name = parameter_of(line, "name");
    const auto* file = parameter_of(line, "file");
    if (nodes == nullptr || name == nullptr || lower_case(name->value) != "gpu") continue;
    auto& count = gpus[lower_case(nodes->value)];
    if (file == nullptr || count < 0) {
      count = -1;
    } else {
      count += static_cast<long long>(count_of_list(file->value));
    }
  }
  return gpus;
}

}  // namespace

RuleTable slurm_rules() { return slurm_rows; }

Finding& SlurmReport::add(std::string_view rule, const FileLocation& place, std::string message,
                          std::vector<std::string> evidence) {
  found_.push_back(
      finding_of(rule_of(slurm_rows, rule), place, std::move(message), std::move(evidence)));
  return found_.back();
}

std::vector<GresEntry> gres_entries(std::string_view gres) {
  std::vector<GresEntry> entries;
  for (const auto& part : split_outside_brackets(lower_case(gres))) {
    GresEntry entry;
    const auto paren = part.substr(0, part.find('('));  // gpu:4(S:0-1)
    const auto colon = paren.find(':');
    entry.name = paren.substr(0, colon);
    auto rest = colon == std::string::npos ? std::string() : paren.substr(colon + 1);
    const auto last = rest.rfind(':');
    const auto tail = last == std::string::npos ? rest : rest.substr(last + 1);
    if (const auto count = whole_number<std::uint32_t>(tail)) {
      entry.count = *count;
      rest = last == std::string::npos ? "" : rest.substr(0, last);
    }
    if (rest != "no_consume") entry.type = rest;
    entries.push_back(std::move(entry));
  }
  return entries;
}

void check_slurm_conf(const SlurmLines& lines, SlurmReport& report) {
  check_nodes(lines, report);
  check_memory_defaults(lines, report);
  if (!names_gpus(lines)) return;
  check_plugins(lines, report);
  check_tres(lines, report);
}

void check_cluster(const SlurmCluster& cluster, SlurmReport& report) {
  const bool gpus =
      names_gpus(cluster.slurm) || std::ranges::any_of(cluster.gres, [](const SlurmLine& line) {
        const auto* name = parameter_of(line, "name");
        return name != nullptr && lower_case(name->value) == "gpu";
      });
  if (cluster.has_cgroup && gpus) {
    const auto* constrain = setting(cluster.cgroup, "constraindevices");
    if (constrain == nullptr || lower_case(constrain->value) != "yes") {
      report.add("slurm-constrain-devices",
                 constrain == nullptr ? FileLocation{cluster.cgroup_file, 1, 0} : constrain->place,
                 constrain == nullptr ? "cgroup.conf does not say ConstrainDevices"
                                      : "ConstrainDevices is " + constrain->value);
    }
  }
  const auto devices = gpus_of_gres(cluster.gres);
  for (const auto& line : cluster.slurm) {
    const auto* nodes = parameter_of(line, "nodename");
    const auto* gres = parameter_of(line, "gres");
    if (nodes == nullptr || gres == nullptr) continue;
    const auto at = devices.find(lower_case(nodes->value));
    if (at == devices.end() || at->second < 0) continue;
    long long said = 0;
    for (const auto& entry : gres_entries(gres->value))
      said += entry.name == "gpu" ? entry.count : 0;
    if (said == at->second) continue;
    report.add(
        "slurm-gres-differs", gres->place,
        fmt::format("{} has {} GPUs here, and {} in gres.conf", nodes->value, said, at->second));
  }
}

}  // namespace stoker::lint
