// Verb `explain`: what a number in a log, a check or an incident means, what to do, and who says so. Only of an incident
// an agent is asked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "api/explanation_view.h"
#include "base/closest.h"
#include "base/text.h"
#include "catalog/explain.h"
#include "catalog/xid.h"
#include "command_line.h"
#include "driver_flag.h"
#include "health/check_document.h"
#include "health/checks.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* explain_examples = R"(Examples:
  stoker explain xid 79              what it means, what to do, and what others make of it
  stoker explain xid 144 --driver 550.90.07
                                     as that driver meant it: numbers were reused
  stoker explain sxid 12028 -o json  an NVSwitch's number
  stoker explain check pcie-replays  what is compared with what, and whose rule it is
  stoker explain check gpu-lost      also of what is seen of the node itself
  stoker explain incident 3          what happened in order, why, and what to look at next

Exit codes: 0 explained, 2 what was named is not known, or no agent answers of whom an incident is asked.)";

struct ExplainFlags {
  std::string number;
  std::string driver;
  Output output = Output::table;
};

int print(std::optional<std::string> text, const JsonWriter& json, const ExplainFlags& flags) {
  if (flags.output == Output::table) {
    fmt::print("{}", *text);
    return exit_nothing_wrong;
  }
  return print_document(
      fmt::format(R"({{"schema":"stoker.dev/v1/explanation","explanations":[{}]}})", json.text()),
      flags.output);
}

int explain_xid_verb(const ExplainFlags& flags) {
  const auto number = whole_number<std::uint64_t>(flags.number);
  if (!number) return complain(fmt::format("'{}' is no number of an Xid", flags.number));
  const auto driver = driver_of(flags.driver);
  if (!driver) return complain(driver.error().message());
  JsonWriter json;
  if (!write_xid(json, *number, *driver)) {
    return complain(fmt::format("Xid {} is not known{}", *number,
                                *driver && find_xid(*number) ? " to driver " + flags.driver : ""));
  }
  return print(explain_xid(*number, *driver, table_style().width), json, flags);
}

int explain_sxid_verb(const ExplainFlags& flags) {
  const auto number = whole_number<std::uint64_t>(flags.number);
  if (!number) return complain(fmt::format("'{}' is no number of an SXid", flags.number));
  JsonWriter json;
  if (!write_sxid(json, *number)) return complain(fmt::format("SXid {} is not known", *number));
  return print(explain_sxid(*number, table_style().width), json, flags);
}

int explain_check_verb(const ExplainFlags& flags) {
  const auto checks = health::built_in_checks();
  const auto found = std::ranges::find(checks, flags.number, &health::Check::id);
  const auto rules = health::all_rules();
  const auto rule = std::ranges::find(rules, flags.number, &health::Rule::name);
  if (rule != rules.end()) {
    if (flags.output != Output::table) {
      return print_document(health::rule_json(*rule), flags.output);
    }
    fmt::print("{}", health::explain_rule(*rule, table_style().width));
    return exit_nothing_wrong;
  }
  if (found == checks.end()) {
    std::vector<std::string> ids;
    ids.reserve(checks.size() + rules.size());
    for (const auto& check : checks) ids.push_back(check.id);
    for (const auto& each : rules) ids.emplace_back(each.name);
    const auto hint = did_you_mean(flags.number, ids);
    return complain(
        fmt::format("there is no check '{}'; {}", flags.number,
                    hint.empty() ? "`stoker checks` lists those that there are" : hint));
  }
  if (flags.output != Output::table) {
    return print_document(health::checks_json({&*found, 1}), flags.output);
  }
  fmt::print("{}", health::explain_check(*found, table_style().width));
  return exit_nothing_wrong;
}

struct ExplainIncidentFlags {
  AgentFlags agent;
  std::string id;
  Output output = Output::table;
};

int explain_incident_verb(const ExplainIncidentFlags& flags) {
  if (!whole_number<std::uint64_t>(flags.id)) {
    return complain(
        fmt::format("'{}' is no number of an incident: `stoker incidents` lists them", flags.id));
  }
  const auto document =
      ask_agent(flags.agent, fmt::format("/api/v1/incidents/{}/explanation", flags.id));
  if (!document) return complain(document.error().describe());
  if (flags.output != Output::table) return print_document(*document, flags.output);
  const auto text = api::view_explanation(*document, table_style());
  if (!text) return complain(text.error().describe());
  fmt::print("{}", *text);
  return exit_nothing_wrong;
}

void add_explain_incident(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<ExplainIncidentFlags>();
  CLI::App* what =
      verb.add_subcommand("incident", "What happened on this node, and why that is to do");
  what->add_option("ID", flags->id, "Its number in `stoker incidents`")->required();
  add_agent_flags(*what, flags->agent);
  add_output_flag(*what, flags->output, "table|json|yaml");
  what->footer(explain_examples);
  what->callback([flags, &exit_code] { exit_code = explain_incident_verb(*flags); });
}

}  // namespace

void add_explain_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "explain", "Say what an Xid, SXid, check or incident means and what to do");
  verb->require_subcommand(1);
  verb->footer(explain_examples);
  const auto add = [&](const char* name, const char* about, int (*run)(const ExplainFlags&)) {
    auto flags = std::make_shared<ExplainFlags>();
    CLI::App* what = verb->add_subcommand(name, about);
    const bool is_check = std::string_view(name) == "check";
    what->add_option(is_check ? "ID" : "NUMBER", flags->number,
                     is_check ? "As `stoker checks` lists it" : "The number in the log line")
        ->required();
    if (std::string_view(name) == "xid") {
      what->add_option("--driver", flags->driver, "Version of NVIDIA's driver, or its branch")
          ->type_name("VERSION");
    }
    add_output_flag(*what, flags->output, "table|json|yaml");
    what->footer(explain_examples);
    what->callback([flags, run, &exit_code] { exit_code = run(*flags); });
  };
  add("xid", "An error number of a GPU's driver", &explain_xid_verb);
  add("sxid", "An error number of an NVSwitch's driver", &explain_sxid_verb);
  add("check", "A check that is built in", &explain_check_verb);
  add_explain_incident(*verb, exit_code);
}

}  // namespace stoker::app
