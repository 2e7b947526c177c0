// Verb `events`: what the kernel and the driver said about the GPUs of late.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/events_view.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* events_examples = R"(Examples:
  stoker events
  stoker events -o jsonl | jq 'select(.level == "hardware")'
  stoker xid scan /var/log/kern.log     of a log, without an agent

They are those of this boot that the agent has read, the last 512 at most.
Exit codes: 0 none, 1 there are some, 2 no agent answers, or the kernel log can't be read.)";

struct EventsFlags {
  AgentFlags agent;
  Output output = Output::table;
};

int run(const EventsFlags& flags) {
  const auto events = ask_agent(flags.agent, "/api/v1/events");
  if (!events) return complain(events.error().describe());
  const auto view = api::view_events(*events, table_style());
  if (!view) return complain(view.error().describe());
  if (flags.output == Output::table) {
    fmt::print("{}", view->text);
  } else if (const int printed = print_document(*events, flags.output);
             printed != exit_nothing_wrong) {
    return printed;
  }
  if (view->any) return exit_found;
  return view->read ? exit_nothing_wrong : exit_could_not;
}

}  // namespace

void add_events_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EventsFlags>();
  CLI::App* verb =
      app.add_subcommand("events", "Show what the kernel and the driver said about the GPUs");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->footer(events_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
