// Verb `replay`: what the checks and the incidents make of a recording. Needs no agent and no GPU, and writes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "command_line.h"
#include "health/checks.h"
#include "replay_run.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* replay_examples = R"(Examples:
  stoker replay day.rec                        which checks fired, and when
  stoker replay day.rec --since 2h --until 3h  an hour of it
  stoker replay day.rec --folder checks.d      would these have seen it?
  stoker replay day.rec -o json | jq '.incidents[].cause'

stoker record makes one; stoker up --replay shows it as if it happened now.
A recording has none of the kernel's log: its Xids are those that NVML told.
Exit codes: 0 no incident, 1 at least one, 2 the recording can't be read, or wrong usage.)";

struct ReplayFlags {
  std::string file;
  std::string folder;
  std::string since;
  std::string until;
  Output output = Output::table;
};

// On a terminal one line that changes; else nothing.
void report(Nanoseconds position, Nanoseconds length) {
  fmt::print(stderr, "\r\x1b[Kreplaying: {} of {}", format_duration(position),
             format_duration(length));
}

// 0 where nothing is said.
Result<Nanoseconds> moment(std::string_view flag, const std::string& text) {
  if (text.empty()) return Nanoseconds{0};
  const auto parsed = parse_duration(text);
  if (!parsed) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: {}; how long after the recording's begin, e.g. 90s", flag,
                            parsed.error().message()));
  }
  return *parsed;
}

Result<health::CheckSet> checks_of(const ReplayFlags& flags) {
  health::CheckSet set{.checks = health::built_in_checks(), .findings = {}};
  if (flags.folder.empty()) return set;
  return health::read_overrides(flags.folder, std::move(set.checks));
}

int run(const ReplayFlags& flags) {
  const auto since = moment("--since", flags.since);
  if (!since) return complain(since.error().message());
  const auto until = moment("--until", flags.until);
  if (!until) return complain(until.error().message());
  if (*until > Nanoseconds{0} && *until < *since) return complain("--until is before --since");
  auto checks = checks_of(flags);
  if (!checks) return complain(checks.error().message());
  fmt::print(stderr, "{}", render_table(checks->findings, {}));
  if (!checks->findings.empty()) return exit_could_not;

  auto reader = device::record::FileReader::open(flags.file);
  if (!reader) return complain(reader.error().describe());
  const auto& facts = reader->facts();
  if (facts.lost_bytes > 0) {
    fmt::print(stderr, "stoker: {} was cut: {} bytes at its end are lost\n", flags.file,
               facts.lost_bytes);
  }
  ReplayRunParts parts{.checks = std::move(checks->checks), .expected = {}, .until = *until};
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const Nanoseconds length = facts.last - facts.first;
  if (terminal) parts.progress = [length](Nanoseconds position) { report(position, length); };
  const auto ran = run_recording(*std::move(reader), parts);
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  if (!ran) return complain(ran.error().describe());

  if (flags.output == Output::table) {
    fmt::print("{}", replay_table(*ran, *since));
  } else {
    print_document(replay_json(*ran, *since), flags.output);
  }
  return ran->incidents.empty() ? exit_nothing_wrong : exit_found;
}

}  // namespace

void add_replay_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* verb =
      app.add_subcommand("replay", "Run the checks over a recording; print what came of it");
  verb->add_option("recording", flags->file, "A file of stoker record")
      ->required()
      ->type_name("RECORDING");
  verb->add_option("--since", flags->since, "Print what happened from so long after its begin on")
      ->type_name("TIME");
  verb->add_option("--until", flags->until, "End so long after its begin")->type_name("TIME");
  verb->add_option("--folder", flags->folder, "Folder whose *.yaml change and add checks")
      ->type_name("DIR");
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(replay_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
