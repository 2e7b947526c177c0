#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {

void add_up_verb(CLI::App& app, int& exit_code) {
  app.add_subcommand("up", "")->callback([&exit_code] { exit_code = exit_could_not; });
}

}  // namespace stoker::app
