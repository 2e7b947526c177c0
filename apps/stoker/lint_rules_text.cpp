#include "lint_rules_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/closest.h"
#include "base/json_text.h"
#include "command_line.h"
#include "lint_run.h"
#include "model/wrap.h"
#include "verbs.h"

namespace stoker::app {
namespace {

void write_lint_rule(JsonWriter& json, const LintRules& group, const lint::Rule& rule) {
  json.begin_object();
  json.member("group", group.name).member("about", group.about);
  json.member("rule", rule.id).member("severity", to_string(rule.severity));
  json.member("title", rule.title).member("cause", rule.why).member("fix", rule.fix);
  json.member("source", rule.source).member("fixable", rule.fixing == lint::Fixing::patch);
  json.end_object();
}

void print_wrapped(std::string_view label, std::string_view text) {
  std::string out;
  append_labelled(out, label, text, table_style().width);
  fmt::print("{}", out);
}

}  // namespace

int list_lint_rules(bool json) {
  if (json) {
    JsonWriter out;
    out.begin_object().member("schema", "stoker.dev/v1/lint-rule").key("lint_rules").begin_array();
    for (const auto& group : lint_rule_groups()) {
      for (const auto& rule : group.table) write_lint_rule(out, group, rule);
    }
    out.end_array().end_object();
    fmt::print("{}\n", out.text());
    return exit_nothing_wrong;
  }
  for (const auto& rule : all_lint_rules()) {
    fmt::print("{}{}{}\n", pad(std::string(rule.id), 26), pad(to_string(rule.severity), 9),
               rule.title);
  }
  return exit_nothing_wrong;
}

int explain_lint_rule(std::string_view wanted) {
  const auto rules = all_lint_rules();
  const auto rule = std::ranges::find(rules, wanted, &lint::Rule::id);
  if (rule == rules.end()) {
    std::vector<std::string> ids;
    ids.reserve(rules.size());
    for (const auto& each : rules) ids.emplace_back(each.id);
    const auto hint = did_you_mean(wanted, ids);
    return complain(
        fmt::format("there is no rule '{}'; {}", wanted,
                    hint.empty() ? "`stoker lint --list-rules` lists those that there are" : hint));
  }
  fmt::print("{}  {}\n", rule->id, to_string(rule->severity));
  print_wrapped("what", rule->title);
  print_wrapped("why", rule->why);
  print_wrapped("do", rule->fix);
  if (rule->fixing == lint::Fixing::patch)
    print_wrapped("patch", "by --fix, where the repair is exact");
  print_wrapped("source", rule->source);
  return exit_nothing_wrong;
}

}  // namespace stoker::app
