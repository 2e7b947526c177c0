// Verb `fields`: what is read, and what reading it costs here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/documents.h"
#include "api/views.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* fields_examples = R"(Examples:
  stoker fields                      every field, its driver call and what the call costs here
  stoker fields -o json | jq '.fields[] | select(.cost_class == "dear")'

Costs are measured by the running agent; where none listens the table is printed
without them.
Exit codes: 0 printed, 2 wrong usage, or an agent that does not answer as it should;
with --agent also if none listens there.)";

struct FieldsFlags {
  AgentFlags agent;
  Output output = Output::table;
};

int run(const FieldsFlags& flags) {
  auto fields = ask_agent(flags.agent, "/api/v1/fields");
  if (!fields && (!flags.agent.url.empty() || fields.error().code() != ErrorCode::unavailable)) {
    return complain(fields.error().describe());
  }
  if (!fields) {
    fmt::print(stderr, "no agent runs here, so no costs have been measured\n");
    fields = api::fields_document(nullptr);
  }
  if (flags.output != Output::table) return print_document(*fields, flags.output);
  const auto table = api::view_fields(*fields);
  if (!table) return complain(table.error().describe());
  fmt::print("{}", *table);
  return exit_nothing_wrong;
}

}  // namespace

void add_fields_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<FieldsFlags>();
  CLI::App* verb =
      app.add_subcommand("fields", "List what is read, and what reading it costs here");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->footer(fields_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
