// Verb `fabric sweep`: every port of a subnet read once or again and again, one verdict a cable.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/duration.h"
#include "base/replace_file.h"
#include "base/write_all.h"
#include "command_line.h"
#include "fabric/drawing.h"
#include "fabric/judge.h"
#include "fabric/report.h"
#include "fabric/subnet/subnet_reader.h"
#include "fabric/sweep_file.h"
#include "lint_run.h"
#include "ufm_client.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* fabric_sweep_examples = R"(Examples:
  sudo stoker fabric sweep               every port once: which links are narrow, slow or not configured?
  sudo stoker fabric sweep --for 5m      twice, five minutes apart: what is counted between is judged
  sudo stoker fabric sweep --save good.json
                                         the fabric as it is, to compare with
  sudo stoker fabric sweep --against good.json --previous last.json
                                         wrong ports against the one, new errors since the other
  sudo stoker fabric sweep --watch 5m -o jsonl >> fabric.jsonl
  stoker fabric sweep --from last.json --against good.json
                                         a sweep that was saved; needs no InfiniBand
  sudo stoker fabric sweep -o json | jq '.links[] | {verdict, ends}'
  stoker fabric sweep --ufm https://ufm.example --ufm-token ufm.token
                                         what UFM knows of states, rates and places; it tells no counters

Counters are read and never cleared. What they held before the first sweep has no time, and is only told with --all.
Exit codes: 0 nothing worth a warning, 1 a warning or worse, 2 could not look at all of it, or wrong usage.)";

struct FabricSweepFlags {
  fabric::SubnetOptions subnet;
  UfmAccess ufm;
  std::string from;
  std::string previous;
  std::string against;
  std::string save;
  std::string apart;
  std::string watch;
  Output output = Output::table;
  bool all = false;
};

Result<fabric::Sweep> sweep_of_file(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) return fail(text.error());
  auto sweep = fabric::read_sweep(*text);
  if (!sweep) return fail(ErrorCode::corrupt, fmt::format("{}: {}", path, sweep.error().message()));
  return sweep;
}

Result<std::optional<fabric::Sweep>> sweep_of_flag(const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto sweep = sweep_of_file(path);
  if (!sweep) return fail(sweep.error());
  return std::optional(std::move(*sweep));
}

// On a terminal, and only where it takes long enough to be seen.
void show_progress(std::size_t done, std::size_t all) {
  constexpr std::size_t step = 16;
  if (::isatty(STDERR_FILENO) != 1 || (done % step != 0 && done != all)) return;
  if (done == all) {
    fmt::print(stderr, "\r\x1b[K");
  } else {
    fmt::print(stderr, "\r{} of {} nodes", done, all);
  }
  std::fflush(stderr);
}

Result<fabric::Sweep> take_sweep(const FabricSweepFlags& flags) {
  if (!flags.from.empty()) return sweep_of_file(flags.from);
  if (!flags.ufm.url.empty()) return read_ufm(flags.ufm);
  return fabric::read_subnet(flags.subnet);
}

int save_sweep(const FabricSweepFlags& flags, const fabric::Sweep& sweep) {
  if (flags.save.empty()) return exit_nothing_wrong;
  const auto written = stoker::replace_file(flags.save, [&](int fd, const std::string& name) {
    return write_all(fd, fabric::write_sweep(sweep) + "\n", name);
  });
  return written ? exit_nothing_wrong : complain(written.error().describe());
}

void print_for_people(const FabricSweepFlags& flags, const fabric::Sweep& sweep,
                      const fabric::Judged& judged) {
  std::vector<Finding> findings;
  std::size_t quiet = 0;
  for (const fabric::Told& told : judged.told) {
    if (told.finding.severity == Severity::info && !flags.all) {
      ++quiet;
    } else {
      findings.push_back(told.finding);
    }
  }
  fmt::print("{}", render_table(findings, table_style()));
  const std::string drawn =
      fabric::drawing(sweep, judged, flags.all ? Severity::info : Severity::warning);
  if (!drawn.empty()) fmt::print("\n{}", drawn);
  fmt::print("{}{} finding{} in {}\n", findings.empty() ? "" : "\n",
             findings.empty() ? "no" : std::to_string(findings.size()),
             findings.size() == 1 ? "" : "s", fabric::summary(sweep, judged));
  if (quiet > 0) fmt::print("{} more that are only good to know: --all\n", quiet);
}

int tell_sweep(const FabricSweepFlags& flags, const fabric::Sweep& sweep,
               const fabric::Judged& judged) {
  if (flags.output == Output::table) {
    print_for_people(flags, sweep, judged);
  } else {
    fmt::print("{}\n", fabric::write_report(sweep, judged));
  }
  if (judged.unread > 0) return exit_could_not;
  const bool found = std::ranges::any_of(judged.told, [](const fabric::Told& told) {
    return told.finding.severity >= Severity::warning;
  });
  return found ? exit_found : exit_nothing_wrong;
}

// Zero where it was not asked for.
Result<Nanoseconds> interval_of(const std::string& text, const char* flag) {
  if (text.empty()) return Nanoseconds(0);
  const auto interval = parse_duration(text);
  if (interval && *interval >= Seconds(1)) return *interval;
  return fail(ErrorCode::invalid_input,
              fmt::format("{} {}: a duration of at least 1s, e.g. 5m", flag, text));
}

int sweep_again_and_again(const FabricSweepFlags& flags, Nanoseconds interval,
                          std::optional<fabric::Sweep> previous,
                          const std::optional<fabric::Sweep>& expected) {
  for (;;) {
    auto sweep = take_sweep(flags);
    if (!sweep) return complain(sweep.error().describe());
    const auto judged =
        fabric::judge(*sweep, previous ? &*previous : nullptr, expected ? &*expected : nullptr);
    tell_sweep(flags, *sweep, judged);
    if (const int saved = save_sweep(flags, *sweep); saved != exit_nothing_wrong) return saved;
    if (std::fflush(stdout) != 0) return exit_nothing_wrong;  // nobody reads any more
    previous = std::move(*sweep);
    std::this_thread::sleep_for(interval);
  }
}

int run_fabric_sweep(const FabricSweepFlags& flags) {
  const auto apart = interval_of(flags.apart, "--for");
  if (!apart) return complain(apart.error().message());
  const auto watched = interval_of(flags.watch, "--watch");
  if (!watched) return complain(watched.error().message());
  if (watched->count() > 0 && flags.output == Output::json) {
    return complain("--watch prints one document a line: -o table or -o jsonl");
  }
  auto previous = sweep_of_flag(flags.previous);
  if (!previous) return complain(previous.error().describe());
  const auto expected = sweep_of_flag(flags.against);
  if (!expected) return complain(expected.error().describe());
  if (watched->count() > 0) {
    return sweep_again_and_again(flags, *watched, std::move(*previous), *expected);
  }
  auto sweep = take_sweep(flags);
  if (sweep && apart->count() > 0) {
    *previous = std::move(*sweep);
    std::this_thread::sleep_for(*apart);
    sweep = take_sweep(flags);
  }
  if (!sweep) return complain(sweep.error().describe());
  const auto judged =
      fabric::judge(*sweep, *previous ? &**previous : nullptr, *expected ? &**expected : nullptr);
  const int told = tell_sweep(flags, *sweep, judged);
  const int saved = save_sweep(flags, *sweep);
  return saved == exit_nothing_wrong ? told : saved;
}

void add_file_flags(CLI::App& verb, FabricSweepFlags& flags) {
  CLI::Option* from =
      verb.add_option("--from", flags.from, "Judge a sweep that was saved, and read nothing");
  from->type_name("FILE");
  verb.add_option("--previous", flags.previous, "An earlier sweep: judge what was counted since")
      ->type_name("FILE");
  verb.add_option("--against", flags.against,
                  "The fabric as it should be: a sweep that was saved when all was well")
      ->type_name("FILE");
  CLI::Option* save = verb.add_option("--save", flags.save, "Write this sweep to a file");
  save->type_name("FILE")->excludes(from);
  CLI::Option* apart = verb.add_option(
      "--for", flags.apart, "Sweep twice, this far apart, and judge what was counted between");
  apart->type_name("DURATION")->excludes(from);
  CLI::Option* watched =
      verb.add_option("--watch", flags.watch, "Again and again, each against the one before");
  watched->type_name("DURATION")->excludes(from)->excludes(apart);
}

void add_ufm_flags(CLI::App& verb, FabricSweepFlags& flags) {
  CLI::Option* ufm = verb.add_option(
      "--ufm", flags.ufm.url,
      "Ask NVIDIA UFM in place of the subnet: states, rates and places, no counters");
  CLI::Option* token =
      verb.add_option("--ufm-token", flags.ufm.token_file, "File with its access token");
  ufm->type_name("URL")->needs(token);
  token->type_name("FILE")->needs(ufm);
  verb.add_option("--ufm-ca", flags.ufm.ca_file,
                  "Who signed its certificate, in PEM (default: those that the system trusts)")
      ->type_name("FILE")
      ->needs(ufm);
}

}  // namespace

void add_fabric_sweep_verb(CLI::App& fabric, int& exit_code) {
  auto flags = std::make_shared<FabricSweepFlags>();
  CLI::App* verb =
      fabric.add_subcommand("sweep", "Read every port of the subnet; one verdict a cable");
  flags->subnet.progress = show_progress;
  verb->add_option("--ca", flags->subnet.adapter,
                   "The adapter to look from (default: the first that is active)")
      ->type_name("NAME");
  verb->add_option("--port", flags->subnet.port, "Its port (default: the first that is active)")
      ->type_name("N")
      ->check(CLI::Range(1, 254));
  add_ufm_flags(*verb, *flags);
  add_file_flags(*verb, *flags);
  verb->add_flag("--all", flags->all, "Also what is only good to know (severity info)");
  add_output_flag(*verb, flags->output, "table|json|jsonl");
  verb->footer(fabric_sweep_examples);
  verb->callback([flags, &exit_code] { exit_code = run_fabric_sweep(*flags); });
}

}  // namespace stoker::app
