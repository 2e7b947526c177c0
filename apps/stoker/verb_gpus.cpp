// Verb `gpus`: every GPU with its readings, once or again and again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <thread>

#include "api/views.h"
#include "base/duration.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* gpus_examples = R"(Examples:
  stoker gpus                        a row a GPU
  stoker gpus --watch                a line a GPU every two seconds, until Ctrl-C
  stoker gpus --watch --interval 10s -o jsonl >> gpus.jsonl
  stoker gpus -o json | jq '.gpus[] | {index, power_watts, power_watts_reason}'

A cell without a number says why: n/a not supported, ... not read yet, old, hung, lost, denied.
Exit codes: 0 printed, 2 no agent to ask.)";

constexpr int rounds_between_titles = 20;

struct GpusFlags {
  AgentFlags agent;
  Output output = Output::table;
  bool watch = false;
  std::string interval = "2s";
};

int print_once(const std::string& document, Output output) {
  if (output != Output::table) return print_document(document, output);
  const auto table = api::view_gpus(document);
  if (!table) return complain(table.error().describe());
  fmt::print("{}", *table);
  return exit_nothing_wrong;
}

int print_round(const std::string& document, Output output, int round) {
  if (output != Output::table) return print_document(document, Output::jsonl);
  const auto lines = api::view_gpus_now(document, round % rounds_between_titles == 0);
  if (!lines) return complain(lines.error().describe());
  fmt::print("{}", *lines);
  return exit_nothing_wrong;
}

int watch(const GpusFlags& flags) {
  const auto interval = parse_duration(flags.interval);
  if (!interval || interval->count() < 100'000'000) {
    return complain(
        fmt::format("--interval {}: a duration of at least 100ms, e.g. 2s", flags.interval));
  }
  if (flags.output == Output::json || flags.output == Output::yaml) {
    return complain("--watch prints lines: -o table or -o jsonl");
  }
  for (int round = 0;; ++round) {
    const auto gpus = ask_agent(flags.agent, "/api/v1/gpus");
    if (!gpus) return complain(gpus.error().describe());
    if (const int code = print_round(*gpus, flags.output, round); code != exit_nothing_wrong)
      return code;
    if (std::fflush(stdout) != 0) return exit_nothing_wrong;  // nobody reads any more
    std::this_thread::sleep_for(*interval);
  }
}

int run(const GpusFlags& flags) {
  if (flags.watch) return watch(flags);
  const auto gpus = ask_agent(flags.agent, "/api/v1/gpus");
  if (!gpus) return complain(gpus.error().describe());
  return print_once(*gpus, flags.output);
}

}  // namespace

void add_gpus_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<GpusFlags>();
  CLI::App* verb = app.add_subcommand("gpus", "Show every GPU with its readings");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  CLI::Option* watched = verb->add_flag("-w,--watch", flags->watch, "Again and again, as lines");
  verb->add_option("--interval", flags->interval, "With --watch: how often")
      ->type_name("DURATION")
      ->needs(watched);
  verb->footer(gpus_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
