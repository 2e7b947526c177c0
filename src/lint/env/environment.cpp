#include "lint/env/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

constexpr auto env_rules = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, severity, title, why, fix, source, fixing) \
  {id, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/env/rules.def"
#undef STOKER_LINT_RULE
});

// Which assignment counts where a name stands twice: NCCL's file keeps the first (setenv with overwrite 0), a list the
// last.
void check_twice(std::span<const Variable> variables, EnvReader reader, EnvReport& report) {
  if (reader != EnvReader::nccl_conf && reader != EnvReader::list) return;
  std::map<std::string_view, const Variable*> first;
  for (const auto& variable : variables) {
    const auto [at, is_new] = first.emplace(variable.name, &variable);
    if (is_new || !is_ours(variable.name) || at->second->value == variable.value) continue;
    report.add(
        "nccl-set-twice", variable,
        fmt::format("{} was set to another value in line {}; the {} one counts", variable.name,
                    at->second->place.line, reader == EnvReader::nccl_conf ? "first" : "last"));
  }
}

// True: the line is not what it was meant to be, so it can't be judged further.
bool has_conf_syntax(const Variable& variable, EnvReport& report) {
  const std::string_view name = variable.name;
  const std::string_view value = variable.value ? std::string_view(*variable.value) : "";
  if (trimmed(name) == name && trimmed(value) == value && !name.starts_with("export ") &&
      !value.starts_with('"') && !value.starts_with('\'')) {
    return false;
  }
  report.add("nccl-conf-syntax", variable,
             fmt::format("the name is '{}' and the value '{}', as they stand", name, value));
  return true;
}

}  // namespace

RuleTable environment_rules() { return env_rules; }

Finding& EnvReport::add(std::string_view rule, const Variable& at, std::string message) {
  std::string evidence = at.value ? fmt::format("{}={}", at.name, *at.value) : at.name;
  found_.push_back(
      finding_of(rule_of(env_rules, rule), at.place, std::move(message), {std::move(evidence)}));
  return found_.back();
}

EnvValues known_values(std::span<const Variable> variables, EnvReader reader) {
  EnvValues values;
  std::map<std::string_view, int> times;
  for (const auto& variable : variables) {
    ++times[variable.name];
    if (reader == EnvReader::nccl_conf) {
      values.emplace(variable.name, &variable);
    } else {
      values[variable.name] = &variable;
    }
  }
  std::erase_if(values, [&](const auto& entry) {
    const bool once = reader != EnvReader::script || times[entry.first] == 1;
    return !once || !entry.second->value || is_placeholder(*entry.second->value);
  });
  return values;
}

std::string_view value_of(const EnvValues& values, std::string_view name) {
  const auto at = values.find(name);
  return at == values.end() ? std::string_view() : std::string_view(*at->second->value);
}

bool is_placeholder(std::string_view value) {
  return value.find('$') != std::string_view::npos || value.find("{{") != std::string_view::npos ||
         value.find('`') != std::string_view::npos || value.starts_with('<');
}

std::vector<std::string_view> list_items(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const auto item = list.substr(0, list.find(','));
    if (!item.empty()) items.push_back(item);
    list.remove_prefix(std::min(item.size() + 1, list.size()));
  }
  return items;
}

ReadNumber read_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const long long value = std::strtoll(copy.c_str(), &end, 0);
  const bool some = end != copy.c_str();
  return {.value = value, .whole = some && trimmed(end).empty()};
}

bool is_on(std::string_view text) { return read_number(text).value != 0; }

std::vector<Finding> lint_environment(std::span<const Variable> variables,
                                      const EnvContext& context) {
  EnvReport report;
  for (const auto& variable : variables) {
    if (context.reader == EnvReader::nccl_conf && has_conf_syntax(variable, report)) continue;
    check_name(variable, context, report);
    const KnownVariable* known = find_variable(variable.name);
    if (known == nullptr || !variable.value || is_placeholder(*variable.value)) continue;
    if (variable.value->empty()) continue;  // as good as not set, for NCCL and for torch's flags
    check_value(variable, *known, context, report);
    check_list(variable, *known, context, report);
    check_effect(variable, context, report);
  }
  check_twice(variables, context.reader, report);
  check_together(known_values(variables, context.reader), report);
  auto found = report.take();
  sort_findings(found);
  return found;
}

}  // namespace stoker::lint
