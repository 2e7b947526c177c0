// Verb `config`: is a config file right, and what would be in force?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command_line.h"
#include "settings_check.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* config_examples = R"(Examples:
  stoker config check stoker.yaml    is this file right?
  stoker config show                 what is in force, and where it comes from

Exit codes: 0 nothing wrong, 2 something is wrong.)";

constexpr const char* check_examples = R"(Examples:
  stoker config check stoker.yaml
  stoker config check stoker.yaml -o sarif

Exit codes: 0 nothing wrong, 2 the file is wrong or can't be read.)";

constexpr const char* show_examples = R"(Examples:
  stoker config show                 every option as a config file, with where it came from
  stoker config show --config stoker.yaml -o json

The output without -o can be used as a config file. Flags beat the environment, which beats the file.
Exit codes: 0 shown, 2 the configuration is wrong.)";

struct CheckFlags {
  std::string file;
  Output output = Output::table;
};

struct ShowFlags {
  ConfigFlags config;
  Output output = Output::table;
};

int check(const CheckFlags& flags) {
  // The file alone: what the environment of this shell says is not its fault.
  auto resolved = config::resolve({.file = flags.file});
  if (resolved.settings) check_settings(*resolved.settings, resolved.findings);
  if (flags.output == Output::sarif) {
    fmt::print("{}\n", render_sarif(resolved.findings, STOKER_VERSION));
  } else if (flags.output != Output::table) {
    if (const int code = print_document(render_json(resolved.findings), flags.output)) return code;
  } else if (resolved.findings.empty()) {
    fmt::print("{}: nothing wrong\n", flags.file);
  } else {
    fmt::print("{}", render_table(resolved.findings, table_style()));
  }
  return resolved.findings.empty() ? exit_nothing_wrong : exit_could_not;
}

int show(const ShowFlags& flags) {
  const auto settings = resolve_settings(flags.config);
  if (!settings) return exit_could_not;
  if (flags.output != Output::table)
    return print_document(config::to_json(*settings), flags.output);
  fmt::print("{}", config::to_yaml(*settings));
  return exit_nothing_wrong;
}

void add_check(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check_verb = verb.add_subcommand("check", "Say what is wrong with a config file");
  check_verb->add_option("FILE", flags->file, "The config file")->required()->type_name("");
  add_output_flag(*check_verb, flags->output, "table|json|yaml|sarif");
  check_verb->footer(check_examples);
  check_verb->callback([flags, &exit_code] { exit_code = check(*flags); });
}

void add_show(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* show_verb =
      verb.add_subcommand("show", "Show every option's value, and where it comes from");
  add_config_file_flag(*show_verb, flags->config);
  add_option_flags(*show_verb, flags->config);
  add_output_flag(*show_verb, flags->output, "table|json|yaml|jsonl");
  show_verb->footer(show_examples);
  show_verb->callback([flags, &exit_code] { exit_code = show(*flags); });
}

}  // namespace

void add_config_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("config", "Check and show the configuration");
  verb->require_subcommand(1);
  verb->footer(config_examples);
  add_check(*verb, exit_code);
  add_show(*verb, exit_code);
}

}  // namespace stoker::app
