// Verb `version`: what this program is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {

void add_version_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("version", "Say which version this is");
  verb->callback([&exit_code] {
    fmt::print("stoker {}\n", STOKER_VERSION);
    exit_code = exit_nothing_wrong;
  });
}

}  // namespace stoker::app
