// Verb `replay`: what the checks and the incidents make of a recording. Needs no agent and no GPU, and writes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
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
  stoker replay load.jsonl --hold 3m           does this load hang?
  stoker replay day.rec -o json | jq '.incidents[].cause'

stoker record makes one; stoker up --replay shows it as if it happened now.
A recording has none of the kernel's log: its Xids are those that NVML told.
Exit codes: 0 no incident, 1 at least one, 2 the recording can't be read, or wrong usage.)";

struct ReplayFlags {
  std::string file;
  std::string folder;
  std::string since;
  std::string until;
  std::string hold;
  Output output = Output::table;
};

// On a terminal one line that changes; else nothing.
void report(Nanoseconds position, Nanoseconds length) {
  fmt::print(stderr, "\r\x1b[Kreplaying: {} of {}", format_duration(position),
             format_duration(length));
}

// A load trace is text, and a recording is not.
std::optional<std::string> text_of(const std::string& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::string begin(64, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  if (!device::record::LoadTrace::is_one(begin)) return std::nullopt;
  in.clear();
  in.seekg(0);
  return std::string(std::istreambuf_iterator<char>(in), {});
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

int print_run(const ReplayRun& ran, Nanoseconds since, Output output) {
  if (output == Output::table) {
    fmt::print("{}", replay_table(ran, since));
  } else {
    print_document(replay_json(ran, since), output);
  }
  if (ran.gpus == 0) return complain("no GPU was ever read in it, so nothing is known");
  return ran.incidents.empty() ? exit_nothing_wrong : exit_found;
}

int run_trace_of(const std::string& text, const ReplayFlags& flags, const ReplayRunParts& parts,
                 Nanoseconds since) {
  constexpr Nanoseconds held_part = Seconds(10);
  constexpr Nanoseconds longest_hold = std::chrono::hours(1);  // it is held in memory
  const auto hold = moment("--hold", flags.hold);
  if (!hold) return complain(hold.error().message());
  if (*hold > longest_hold) return complain("--hold is at most 1h");
  const auto trace = device::record::LoadTrace::read(text, flags.file);
  if (!trace) return complain(trace.error().message());
  return print_run(run_trace(trace->held(held_part, *hold), parts), since, flags.output);
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

  ReplayRunParts parts{.checks = std::move(checks->checks), .expected = {}, .until = *until};
  if (const auto text = text_of(flags.file)) return run_trace_of(*text, flags, parts, *since);
  if (!flags.hold.empty()) return complain("--hold is for load traces");
  auto reader = device::record::FileReader::open(flags.file);
  if (!reader) return complain(reader.error().describe());
  const auto& facts = reader->facts();
  if (facts.lost_bytes > 0) {
    fmt::print(stderr, "stoker: {} was cut: {} bytes at its end are lost\n", flags.file,
               facts.lost_bytes);
  }
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const Nanoseconds length = facts.last - facts.first;
  if (terminal) parts.progress = [length](Nanoseconds position) { report(position, length); };
  const auto ran = run_recording(*std::move(reader), parts);
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  if (!ran) return complain(ran.error().describe());

  return print_run(*ran, *since, flags.output);
}

}  // namespace

void add_replay_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* verb =
      app.add_subcommand("replay", "Run the checks over a recording; print what came of it");
  verb->add_option("recording", flags->file,
                   "A file of stoker record, or a load trace (JSON lines)")
      ->required()
      ->type_name("RECORDING");
  verb->add_option("--since", flags->since, "Print what happened from so long after its begin on")
      ->type_name("TIME");
  verb->add_option("--until", flags->until, "End so long after its begin")->type_name("TIME");
  verb->add_option("--hold", flags->hold,
                   "Of a load trace: go on with its last 10 s until it is so long")
      ->type_name("TIME");
  verb->add_option("--folder", flags->folder, "Folder whose *.yaml change and add checks")
      ->type_name("DIR");
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(replay_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
