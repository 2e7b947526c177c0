#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {

void add_config_verb(CLI::App& app, int& exit_code) {
  app.add_subcommand("config", "")->callback([&exit_code] { exit_code = exit_could_not; });
}

}  // namespace stoker::app
