// Composition: the verbs of `stoker`. Each stands in verb_<name>.cpp, adds itself to the command line
// and, when chosen, runs and says how the process shall exit.
#pragma once

#include "cli_fwd.h"

namespace stoker::app {

// Exit codes of every verb (docs/specs/contracts.md).
inline constexpr int exit_nothing_wrong = 0;
inline constexpr int exit_found = 1;      // something found: a fault, a finding
inline constexpr int exit_could_not = 2;  // could not look or do, or wrong usage

void add_up_verb(CLI::App& app, int& exit_code);
void add_record_verb(CLI::App& app, int& exit_code);
void add_replay_verb(CLI::App& app, int& exit_code);
void add_status_verb(CLI::App& app, int& exit_code);
void add_gpus_verb(CLI::App& app, int& exit_code);
void add_top_verb(CLI::App& app, int& exit_code);
void add_topo_verb(CLI::App& app, int& exit_code);
void add_history_verb(CLI::App& app, int& exit_code);
void add_events_verb(CLI::App& app, int& exit_code);
void add_incidents_verb(CLI::App& app, int& exit_code);
void add_incident_verb(CLI::App& app, int& exit_code);
void add_maintenance_verb(CLI::App& app, int& exit_code);
void add_notify_verb(CLI::App& app, int& exit_code);
void add_expect_verb(CLI::App& app, int& exit_code);
void add_doctor_verb(CLI::App& app, int& exit_code);
void add_why_verb(CLI::App& app, int& exit_code);
void add_xid_verb(CLI::App& app, int& exit_code);
void add_nccl_verb(CLI::App& app, int& exit_code);
void add_nccl_env_verb(CLI::App& nccl, int& exit_code);  // below `nccl`
void add_fabric_verb(CLI::App& app, int& exit_code);
void add_fabric_ports_verb(CLI::App& fabric, int& exit_code);  // below `fabric`, as the next
void add_fabric_sweep_verb(CLI::App& fabric, int& exit_code);
void add_lint_verb(CLI::App& app, int& exit_code);
void add_explain_verb(CLI::App& app, int& exit_code);
void add_checks_verb(CLI::App& app, int& exit_code);
void add_fields_verb(CLI::App& app, int& exit_code);
void add_sim_verb(CLI::App& app, int& exit_code);
void add_config_verb(CLI::App& app, int& exit_code);
void add_version_verb(CLI::App& app, int& exit_code);
void add_diag_verb(CLI::App& app, int& exit_code);
void add_worker_verb(CLI::App& app, int& exit_code);    // internal: the child of `diag`
void add_probe_verb(CLI::App& app, int& exit_code);     // internal: the agent's child
void add_inquirer_verb(CLI::App& app, int& exit_code);  // internal: another

}  // namespace stoker::app
