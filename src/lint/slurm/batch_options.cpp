#include "lint/slurm/batch_options.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/slurm/slurm_report.h"

namespace stoker::lint {
namespace {

struct ShortOption {
  char letter;
  std::string_view name;
};
// sbatch(1): those that count here.
constexpr auto short_options = std::to_array<ShortOption>({{'N', "nodes"},
                                                           {'n', "ntasks"},
                                                           {'c', "cpus-per-task"},
                                                           {'G', "gpus"},
                                                           {'p', "partition"},
                                                           {'t', "time"},
                                                           {'J', "job-name"},
                                                           {'o', "output"},
                                                           {'e', "error"},
                                                           {'A', "account"},
                                                           {'w', "nodelist"},
                                                           {'x', "exclude"},
                                                           {'q', "qos"},
                                                           {'C', "constraint"},
                                                           {'d', "dependency"},
                                                           {'a', "array"}});
// Long options that take no value, or take it only behind '='.
constexpr auto switches = std::to_array<std::string_view>(
    {"exclusive", "requeue", "no-requeue", "overcommit", "oversubscribe", "hold", "contiguous",
     "wait", "verbose", "parsable", "spread-job", "use-min-nodes", "nice", "get-user-env",
     "propagate", "kill-on-invalid-dep", "test-only", "ignore-pbs", "reboot"});

std::vector<std::pair<std::string, int>> words_of_line(std::string_view line, int column) {
  std::vector<std::pair<std::string, int>> words;
  for (std::size_t at = 0; at < line.size();) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos || line[at] == '#') break;
    const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
    std::string word(line.substr(at, end - at));
    std::erase_if(word, [](char c) { return c == '"' || c == '\''; });
    words.emplace_back(std::move(word), column + static_cast<int>(at));
    at = end;
  }
  return words;
}

void read_options(std::string_view directive, const FileLocation& start, BatchScript& script) {
  const auto words = words_of_line(directive, start.column);
  if (!words.empty() && (words[0].first == "hetjob" || words[0].first == "packjob")) {
    script.heterogeneous = true;
  }
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& [word, column] = words[at];
    BatchOption option{.value = {}, .place = {start.file, start.line, column}};
    std::string name;
    bool wants_value = false;
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
      if (equals != std::string::npos) option.value = word.substr(equals + 1);
      wants_value =
          equals == std::string::npos && std::ranges::find(switches, name) == switches.end();
    } else if (word.size() >= 2 && word[0] == '-') {
      const auto* known = std::ranges::find(short_options, word[1], &ShortOption::letter);
      if (known == short_options.end()) continue;
      name = known->name;
      option.value = word.substr(word.size() > 2 && word[2] == '=' ? 3 : 2);
      wants_value = option.value.empty();
    } else {
      continue;
    }
    if (wants_value && at + 1 < words.size() && !words[at + 1].first.starts_with('-')) {
      option.value = words[++at].first;
    }
    script.options[name] = std::move(option);
  }
}

}  // namespace

const BatchOption* BatchScript::option(std::string_view name) const {
  const auto at = options.find(name);
  return at == options.end() ? nullptr : &at->second;
}

std::optional<long long> BatchScript::number(std::string_view name) const {
  const auto* found = option(name);
  if (found == nullptr) return std::nullopt;
  const auto number = whole_number<long long>(found->value);
  return number && *number > 0 && *number < 1'000'000 ? number : std::nullopt;
}

BatchScript read_batch_script(std::string_view text, const std::string& file) {
  BatchScript script;
  bool goes_on = false;
  bool writes_text = false;  // a here document may hold another script
  bool in_note = false;      // of a template, which may have several lines
  for (int number = 1; !text.empty(); ++number) {
    const auto raw = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(raw.size() + 1, text.size()));
    auto line = trimmed(raw, " \t\r");
    if (raw.starts_with("#SBATCH")) {
      FileLocation place{file, number, 8};
      if (script.commands.empty()) {
        read_options(raw.substr(7), place, script);
      } else if (!script.options.empty() && !writes_text) {
        place.column = 1;
        script.late.push_back({.value = std::string(line), .place = place});
      }
      continue;
    }
    // https://jinja.palletsprojects.com/en/stable/templates/#synopsis; "{{" alone on a line writes lines of its own.
    in_note = in_note || line.starts_with("{#");
    if (in_note || line.starts_with("{%") || line.starts_with("{{")) {
      script.templated = true;
      in_note = in_note && line.find("#}") == std::string_view::npos;
      continue;
    }
    if (line.empty() || line.starts_with('#')) continue;
    writes_text = writes_text || line.find("<<") != std::string_view::npos;
    const bool continued = line.ends_with('\\');
    if (continued) line.remove_suffix(1);
    if (goes_on) {
      script.commands.back().text += ' ';
      script.commands.back().text += line;
    } else {
      const auto column = static_cast<int>(raw.find_first_not_of(" \t")) + 1;
      script.commands.push_back({std::string(line), {file, number, column}});
    }
    goes_on = continued;
  }
  return script;
}

std::optional<long long> nodes_of(const BatchScript& script) {
  if (script.option("nodes") == nullptr) return std::nullopt;
  return script.number("nodes");  // "2-4" is not known
}

std::optional<long long> tasks_per_node(const BatchScript& script) {
  if (const auto per_node = script.number("ntasks-per-node")) return per_node;
  if (script.option("ntasks-per-node") != nullptr) return std::nullopt;
  if (script.option("ntasks-per-gpu") != nullptr) return std::nullopt;
  const auto nodes = nodes_of(script);
  const auto tasks = script.number("ntasks");
  if (tasks && nodes && *tasks % *nodes == 0) return *tasks / *nodes;
  if (script.option("ntasks") == nullptr && nodes) return 1;
  return std::nullopt;
}

namespace {

// "4", "a100:4", "a:2,b:2".
std::optional<long long> typed_count(std::string_view text) {
  long long all = 0;
  for (const auto& entry : gres_entries(text)) {
    // gres_entries() takes what stands in front of the first colon as a name: "a100:4" and, alone, "4".
    const auto alone = whole_number<std::uint32_t>(entry.name);
    if (!alone && entry.name.find('$') != std::string::npos) return std::nullopt;
    all += alone ? static_cast<long long>(*alone) : entry.count;
  }
  return all > 0 && all < 1'000'000 ? std::optional(all) : std::nullopt;
}

}  // namespace

std::optional<long long> gpus_per_node(const BatchScript& script) {
  if (const auto* per_node = script.option("gpus-per-node")) return typed_count(per_node->value);
  if (const auto* gres = script.option("gres")) {
    long long all = 0;
    for (const auto& entry : gres_entries(gres->value)) {
      if (entry.name == "gpu" && entry.type.find('$') == std::string::npos) all += entry.count;
    }
    return all > 0 ? std::optional(all) : std::nullopt;
  }
  if (const auto* per_task = script.option("gpus-per-task")) {
    const auto count = typed_count(per_task->value);
    const auto tasks = tasks_per_node(script);
    return count && tasks ? std::optional(*count * *tasks) : std::nullopt;
  }
  if (const auto* gpus = script.option("gpus")) {
    const auto count = typed_count(gpus->value);
    const auto nodes = nodes_of(script);
    if (count && nodes && *count % *nodes == 0) return *count / *nodes;
  }
  return std::nullopt;
}

bool asks_for_gpus(const BatchScript& script) {
  const auto* gres = script.option("gres");
  if (gres != nullptr && lower_case(gres->value).starts_with("gpu")) return true;
  return std::ranges::any_of(std::to_array<std::string_view>(
                                 {"gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"}),
                             [&](std::string_view name) { return script.option(name) != nullptr; });
}

}  // namespace stoker::lint
