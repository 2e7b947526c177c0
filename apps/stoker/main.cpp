// Composition: what `stoker` can be asked, in the order in which somebody meets it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.h"
#include "help.h"
#include "usage.h"
#include "verbs.h"

namespace {

constexpr const char* about =
    "Stoker watches, explains and serves the GPUs of a node, and tells people what is wrong,\n"
    "why, and what to do.";

constexpr const char* examples = R"(Examples:
  stoker up                     watch this machine's GPUs; serves http://127.0.0.1:9400
  stoker up --sim hgx-h100      the same on eight simulated H100s; needs no GPU
  stoker status                 is anything wrong, and why?
  stoker gpus --watch           one line a GPU, again and again
  stoker COMMAND --help         more about a command

Exit codes: 0 nothing wrong, 1 something found, 2 could not look or do, or wrong usage.)";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (const auto refused = stoker::app::refuse_empty(arguments)) return *refused;
  CLI::App app(about, "stoker");
  stoker::app::use_help_style(app);
  app.footer(examples);
  app.require_subcommand(1);
  int exit_code = stoker::app::exit_nothing_wrong;

  stoker::app::add_up_verb(app, exit_code);
  stoker::app::add_record_verb(app, exit_code);
  stoker::app::add_replay_verb(app, exit_code);
  stoker::app::add_status_verb(app, exit_code);
  stoker::app::add_gpus_verb(app, exit_code);
  stoker::app::add_top_verb(app, exit_code);
  stoker::app::add_topo_verb(app, exit_code);
  stoker::app::add_history_verb(app, exit_code);
  stoker::app::add_events_verb(app, exit_code);
  stoker::app::add_incidents_verb(app, exit_code);
  stoker::app::add_incident_verb(app, exit_code);
  stoker::app::add_maintenance_verb(app, exit_code);
  stoker::app::add_notify_verb(app, exit_code);
  stoker::app::add_expect_verb(app, exit_code);
  stoker::app::add_doctor_verb(app, exit_code);
  stoker::app::add_diag_verb(app, exit_code);
  stoker::app::add_why_verb(app, exit_code);
  stoker::app::add_xid_verb(app, exit_code);
  stoker::app::add_nccl_verb(app, exit_code);
  stoker::app::add_fabric_verb(app, exit_code);
  stoker::app::add_lint_verb(app, exit_code);
  stoker::app::add_explain_verb(app, exit_code);
  stoker::app::add_checks_verb(app, exit_code);
  stoker::app::add_fields_verb(app, exit_code);
  stoker::app::add_sim_verb(app, exit_code);
  stoker::app::add_config_verb(app, exit_code);
  stoker::app::add_version_verb(app, exit_code);
  stoker::app::add_worker_verb(app, exit_code);
  stoker::app::add_probe_verb(app, exit_code);
  stoker::app::add_inquirer_verb(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    exit_code = stoker::app::explain_usage(app, problem);
  } catch (const std::system_error& problem) {
    exit_code = stoker::app::explain_refusal(problem);
  }
  return stoker::app::all_was_printed() ? exit_code : stoker::app::exit_could_not;
}
