// Verb `maintenance`: says that somebody works on this node on purpose, so that what goes away opens no incident.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "api/maintenance_document.h"
#include "base/duration.h"
#include "command_line.h"
#include "incident/maintenance.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* maintenance_examples = R"(Examples:
  stoker maintenance begin --for 30m --why "new driver, reboot"
  stoker maintenance end
  stoker status                        says whether one holds, until when, and who planned it

What is found meanwhile stays a suspicion, opens no incident and notifies nobody. A card that falls off the bus, an
uncorrectable memory error and other faults of hardware that the kernel logs are told as ever. It ends by itself; where
the node was booted in it, ten minutes after the boot at the earliest. What holds then is told at once.

Both go through the socket in the agent's data folder: on its machine, as its user or root.
Exit codes: 0 done, 2 it could not be done, there is none to end, or wrong usage.)";

struct MaintenanceFlags {
  ConfigFlags config;
  Output output = Output::table;
  std::string length;  // a duration
  std::string why;
};

int ask(const MaintenanceFlags& flags, const MaintenanceRequest& request) {
  const auto answer =
      ask_for_change(flags.config, "/api/v1/maintenance", api::maintenance_request_body(request));
  if (!answer) return complain(answer.error().message());
  if (flags.output != Output::table) return print_document(*answer, flags.output);
  const auto view = api::view_maintenance(*answer);
  if (!view) return complain(view.error().describe());
  fmt::print("{}", *view);
  return exit_nothing_wrong;
}

int begin(const MaintenanceFlags& flags) {
  const auto length = parse_duration(flags.length);
  if (!length) return complain("--for: " + length.error().message());
  if (*length < Seconds(1) || *length > incident::longest_maintenance) {
    return complain(
        fmt::format("--for: 1s to {}", duration_text(Nanoseconds(incident::longest_maintenance))));
  }
  if (flags.why.empty()) return complain("--why: who finds it wants to know why");
  return ask(flags, {.length = *length, .who = "", .why = flags.why});
}

void add_common(CLI::App& verb, MaintenanceFlags& flags) {
  add_config_file_flag(verb, flags.config);
  add_option_flags(verb, flags.config, {config::OptionId::data});
  add_output_flag(verb, flags.output, "table|json|yaml");
  verb.footer(maintenance_examples);
}

}  // namespace

void add_maintenance_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb =
      app.add_subcommand("maintenance", "Plan a reboot or repair, so that it opens no incident");
  verb->require_subcommand(1);
  verb->footer(maintenance_examples);
  auto flags = std::make_shared<MaintenanceFlags>();
  CLI::App* starts = verb->add_subcommand("begin", "From now on, for a time; again: anew");
  starts->add_option("--for", flags->length, "How long, at most 7d, e.g. 30m")
      ->required()
      ->type_name("DURATION");
  starts->add_option("--why", flags->why, "Why; shown by status and beside each suspicion")
      ->required()
      ->type_name("TEXT");
  add_common(*starts, *flags);
  starts->callback([flags, &exit_code] { exit_code = begin(*flags); });
  auto end_flags = std::make_shared<MaintenanceFlags>();
  CLI::App* ends = verb->add_subcommand("end", "It is over; what was held back is told");
  add_common(*ends, *end_flags);
  ends->callback([end_flags, &exit_code] { exit_code = ask(*end_flags, {}); });
}

}  // namespace stoker::app
