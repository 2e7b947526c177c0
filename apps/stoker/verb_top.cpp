// Verb `top`: the node on one screen, again and again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/duration.h"
#include "command_line.h"
#include "net/percent.h"
#include "top_terminal.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* top_examples = R"(Examples:
  stoker top                        keys: ? for help, q to leave
  stoker top --interval 5s
  stoker top --agent http://10.0.0.7:9400    of another node

Works from 40 x 10; made for 80 x 24. For scripts there is `stoker gpus --watch`.
Exit codes: 0 left, 2 wrong usage, or no terminal.)";

struct TopFlags {
  AgentFlags agent;
  std::string interval = "2s";
};

api::TopDocuments ask_all(const AgentFlags& agent, const std::string& uuid,
                          const std::string& graph) {
  const auto status = ask_agent(agent, "/api/v1/status");
  if (!status) return {.problem = status.error().describe()};
  const auto gpus = ask_agent(agent, "/api/v1/gpus");
  if (!gpus) return {.problem = gpus.error().describe()};
  api::TopDocuments documents{.status = *status, .gpus = *gpus};
  if (uuid.empty()) return documents;
  const auto history =
      ask_agent(agent, fmt::format("/api/v1/history?field={}&gpu={}&since=10m",
                                   net::percent_encode(graph), net::percent_encode(uuid)));
  if (history) documents.history = *history;  // none yet: no curve
  return documents;
}

int run(const TopFlags& flags) {
  const auto interval = parse_duration(flags.interval);
  if (!interval || *interval < Milliseconds(100)) {
    return complain(
        fmt::format("--interval {}: a duration of at least 100ms, e.g. 2s", flags.interval));
  }
  const auto ask = [&flags](const std::string& uuid, const std::string& graph) {
    return ask_all(flags.agent, uuid, graph);
  };
  if (!run_top(ask, *interval, speaks_utf8())) {
    return complain("top needs a terminal; `stoker gpus --watch` prints lines");
  }
  return exit_nothing_wrong;
}

}  // namespace

void add_top_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* verb = app.add_subcommand("top", "Show the node on one screen, again and again");
  verb->add_option("--interval", flags->interval, "How often to ask the agent")
      ->type_name("DURATION")
      ->capture_default_str();
  add_agent_flags(*verb, flags->agent);
  verb->footer(top_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
