// Verb `fabric`: what is wrong with an InfiniBand fabric's cables. Below it `fabric ports` and
// `fabric sweep`.
#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {

void add_fabric_verb(CLI::App& app, int& exit_code) {
  CLI::App* fabric = app.add_subcommand(
      "fabric", "Find what is wrong with ports and cables of InfiniBand and RoCE");
  fabric->require_subcommand(1);
  add_fabric_ports_verb(*fabric, exit_code);
  add_fabric_sweep_verb(*fabric, exit_code);
}

}  // namespace stoker::app
