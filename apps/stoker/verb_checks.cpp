// Verb `checks`: what is checked over and over, and on whose word. Needs no agent and no GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command_line.h"
#include "health/check_document.h"
#include "health/checks.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* checks_examples = R"(Examples:
  stoker checks                      every check, what it compares and whose rule that is
  stoker checks --folder checks.d    with a folder's own checks and changes; tells its mistakes
  stoker checks -o json | jq '.checks[] | select(.severity == "error")'

stoker explain check ID tells more of one. How to change and add checks: docs/how-to-add-a-check.md
Exit codes: 0 printed, 1 a file of the folder has a mistake and was not taken, 2 there is no such folder.)";

struct ChecksFlags {
  std::string folder;
  Output output = Output::table;
};

int run(const ChecksFlags& flags) {
  health::CheckSet set{.checks = health::built_in_checks(), .findings = {}};
  if (!flags.folder.empty()) {
    auto read = health::read_overrides(flags.folder, std::move(set.checks));
    if (!read) return complain(read.error().message());
    set = *std::move(read);
  }
  if (flags.output == Output::table) {
    fmt::print("{}", health::checks_table(set.checks, table_style().width));
  } else {
    print_document(health::checks_json(set.checks), flags.output);
  }
  if (set.findings.empty()) return exit_nothing_wrong;
  fmt::print(stderr, "{}", render_table(set.findings, {}));
  return exit_found;
}

}  // namespace

void add_checks_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ChecksFlags>();
  CLI::App* verb = app.add_subcommand("checks", "List what is checked, and whose rule that is");
  verb->add_option("--folder", flags->folder, "Folder whose *.yaml change and add checks")
      ->type_name("DIR");
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(checks_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
