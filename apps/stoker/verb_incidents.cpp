// Verbs `incidents` and `incident`: what is wrong on this node, one line a cause; and everything about one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/incidents_view.h"
#include "base/text.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* list_examples = R"(Examples:
  stoker incidents
  stoker incidents --all                  with those that are over
  stoker incidents -o jsonl | jq 'select(.severity == "critical")'
  stoker incident 3                       everything about one

Exit codes: 0 none that is not over, 1 there are some, 2 no agent answers.)";

constexpr const char* one_examples = R"(Examples:
  stoker incident 3                       why, what to do, the lines, what happened to it
  stoker incident 3 -o json

Exit codes: 0 it is over, 1 it is not, 2 there is none of that number, or no agent answers.)";

constexpr const char* not_over =
    "/api/v1/incidents?state=open,acknowledged,mitigating,proving,suppressed";

struct IncidentFlags {
  AgentFlags agent;
  Output output = Output::table;
  bool all = false;
  std::string id;
};

using View = Result<api::IncidentsView> (*)(const std::string&, const TableStyle&);

int print(const IncidentFlags& flags, const std::string& page, View view_of) {
  const auto document = ask_agent(flags.agent, page);
  if (!document) return complain(document.error().describe());
  const auto view = view_of(*document, table_style());
  if (!view) return complain(view.error().describe());
  if (flags.output == Output::table) {
    fmt::print("{}", view->text);
  } else if (const int printed = print_document(*document, flags.output);
             printed != exit_nothing_wrong) {
    return printed;
  }
  return view->any ? exit_found : exit_nothing_wrong;
}

int list(const IncidentFlags& flags) {
  return print(flags, flags.all ? "/api/v1/incidents" : not_over, &api::view_incidents);
}

int one(const IncidentFlags& flags) {
  if (!whole_number<std::uint64_t>(flags.id)) {
    return complain(
        fmt::format("'{}' is no number of an incident: `stoker incidents` lists them", flags.id));
  }
  return print(flags, "/api/v1/incidents/" + flags.id, &api::view_incident);
}

}  // namespace

void add_incidents_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<IncidentFlags>();
  CLI::App* verb = app.add_subcommand("incidents", "List what is wrong on this node, one a cause");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->add_flag("--all", flags->all, "Those that are over too");
  verb->footer(list_examples);
  verb->callback([flags, &exit_code] { exit_code = list(*flags); });
}

void add_incident_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<IncidentFlags>();
  CLI::App* verb = app.add_subcommand("incident", "Show everything about one incident");
  verb->add_option("ID", flags->id, "Its number in `stoker incidents`")->required();
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(one_examples);
  verb->callback([flags, &exit_code] { exit_code = one(*flags); });
}

}  // namespace stoker::app
