// Verb `version`: what this program is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* version_examples = R"(Examples:
  stoker version

Exit codes: 0 printed.)";

}  // namespace

void add_version_verb(CLI::App& app, int& exit_code) {
  app.set_version_flag("--version", std::string("stoker ") + STOKER_VERSION,
                       "The same as the verb version");
  CLI::App* verb = app.add_subcommand("version", "Say which version this is");
  verb->footer(version_examples);
  verb->callback([&exit_code] {
    fmt::print("stoker {}\n", STOKER_VERSION);
    exit_code = exit_nothing_wrong;
  });
}

}  // namespace stoker::app
