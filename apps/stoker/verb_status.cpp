// Verb `status`: is anything wrong, and why?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/views.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* status_examples = R"(Examples:
  stoker status                      one screen: the verdict first, then why
  stoker status -o json | jq .verdict
  stoker status --agent http://node7:9400

Exit codes: 0 the verdict is ok, 1 it is degraded, critical or unknown, 2 no agent to ask.)";

struct StatusFlags {
  AgentFlags agent;
  Output output = Output::table;
  bool verbose = false;
};

int run(const StatusFlags& flags) {
  const auto status = ask_agent(flags.agent, "/api/v1/status");
  if (!status) return complain(status.error().describe());
  const auto gpus = ask_agent(flags.agent, "/api/v1/gpus");
  if (!gpus) return complain(gpus.error().describe());
  const auto view = api::view_status(*status, *gpus, table_style(), flags.verbose);
  if (!view) return complain(view.error().describe());
  if (flags.output == Output::table) {
    fmt::print("{}", view->text);
  } else if (const int code = print_document(*status, flags.output); code != exit_nothing_wrong) {
    return code;
  }
  return view->healthy ? exit_nothing_wrong : exit_found;
}

}  // namespace

void add_status_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<StatusFlags>();
  CLI::App* verb = app.add_subcommand("status", "Say whether anything is wrong, and why");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->add_flag("-v,--verbose", flags->verbose, "Also how the driver is read");
  verb->footer(status_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
