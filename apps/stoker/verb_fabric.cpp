// Verb `fabric`: what is wrong with an InfiniBand fabric's cables. Below it `fabric ports` and
// `fabric sweep`.
#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* fabric_examples = R"(Examples:
  stoker fabric ports                    this node's own ports: states, rates, what is counted
  sudo stoker fabric sweep               the whole subnet: is a cable bad, slow, down or in the wrong port?

Exit codes: 0 nothing worth a warning, 1 a warning or worse, 2 could not look at all of it, or wrong usage.)";

}  // namespace

void add_fabric_verb(CLI::App& app, int& exit_code) {
  CLI::App* fabric = app.add_subcommand(
      "fabric", "Find what is wrong with ports and cables of InfiniBand and RoCE");
  fabric->require_subcommand(1);
  fabric->footer(fabric_examples);
  add_fabric_ports_verb(*fabric, exit_code);
  add_fabric_sweep_verb(*fabric, exit_code);
}

}  // namespace stoker::app
