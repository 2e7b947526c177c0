// Verb `diag`: active tests of this node's cards.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command_line.h"
#include "diag_history.h"
#include "diag_run.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* diag_examples = R"(Examples:
  stoker diag --level 1                 software and state, no load: in seconds
  stoker diag --level 2                 memory, compute, tensor cores, PCIe, NVLink: within a minute
  stoker diag --test memory --gpu 3     one test, or all of a step, on one card
  stoker diag --level 2 -o junit > diag.xml
  stoker diag --sim hgx-h100 --level 2 --fault wrong-sm=5@3
                                        a simulated node with a fault: what it looks like when a test fails
  stoker diag --level 2 --inject bit-flips=1000 --gpu 0
                                        a real card, made wrong on purpose: the test has to find it
  stoker diag --list                    every test, and what it is
  stoker diag history --test memory_read  what was measured before

A card that somebody uses is refused unless --allow-busy is given. Nothing is changed on a card, and Ctrl-C gives
everything back; a card that hangs has two minutes for that, and a second Ctrl-C does not wait. Results are kept in diag.db of the data folder, card by card, and compared with. A test that was not made is "not tested", and never a pass.
The agent tests cards that have been idle for long by itself where the option diag.idle says so (stoker config show).
As a Slurm prolog, epilog or HealthCheckProgram, or in a Kubernetes Job: the exit code is the verdict.
Exit codes: 0 tests passed, and the others have nothing to test here; 1 a test failed; 2 none passed, a test could not be
made, a card is lost, hung or busy, or wrong usage.)";

constexpr const char* diag_history_examples = R"(Examples:
  stoker diag history --test memory_read        does a card become slower?
  stoker diag history --gpu 1653922004471 -o json

Exit codes: 0 shown, 2 nothing is kept, or wrong usage.)";

void add_diag_history_verb(CLI::App& diag, int& exit_code) {
  auto flags = std::make_shared<DiagHistoryFlags>();
  CLI::App* verb = diag.add_subcommand("history", "Show results that were kept, newest first");
  verb->add_option("--gpu", flags->gpu, "Of one card, by its serial number or UUID")
      ->type_name("SERIAL");
  verb->add_option("--test", flags->test, "Of one test")->type_name("NAME");
  verb->add_option("--most", flags->most, "At most so many")->type_name("50");
  add_output_flag(*verb, flags->output, "table|json");
  add_config_file_flag(*verb, flags->config);
  add_option_flags(*verb, flags->config, {config::OptionId::data});
  verb->footer(diag_history_examples);
  verb->callback([flags, &exit_code] { exit_code = run_diag_history(*flags); });
}

// What the agent says to the runs of its schedule.
void add_schedule_flags(CLI::App& verb, DiagFlags& flags) {
  verb.add_flag("--while-idle", flags.while_idle,
                "Stop as soon as somebody else is on a card, or whoever started this is gone; at "
                "lowest priority; keep the results of level 1 too. What the option diag.idle runs")
      ->excludes("--allow-busy");
  verb.add_option("--started-by", flags.started_by,
                  "With --while-idle: whoever started this, by its pid; once it is not the parent, "
                  "it is gone")
      ->needs("--while-idle")
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  verb.add_option("--fd", flags.tell_fd,
                  "With --while-idle: the socket on which to say how the run ended")
      ->needs("--while-idle")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
}

}  // namespace

void add_diag_verb(CLI::App& app, int& exit_code) {
  using config::OptionId;
  auto flags = std::make_shared<DiagFlags>();
  CLI::App* verb = app.add_subcommand("diag", "Test the cards: state, memory, compute, links");
  verb->add_option("--level", flags->level,
                   "1: state, no load; 2: short active tests (levels 3 and 4 are to come)")
      ->type_name("1|2");
  verb->add_option("--test", flags->tests,
                   "Only these: a test, or a step such as memory; see --list")
      ->type_name("NAME");
  verb->add_option("--gpu", flags->gpus, "Only these: index, UUID or PCI address")
      ->type_name("GPU");
  verb->add_option("--mig", flags->mig, "Only this MIG instance, by its UUID; active tests only")
      ->type_name("UUID");
  verb->add_flag(
      "--allow-busy", flags->allow_busy,
      "Test cards that are in use too: what is too slow is then not tested, and not failed");
  verb->add_option("--memory-share", flags->memory_share,
                   "Share of the free memory that patterns are written to")
      ->check(CLI::Range(0.01, 1.0))
      ->type_name("0.95");
  verb->add_option("--load-seconds", flags->load_seconds,
                   "How long tensor cores work under full power")
      ->check(CLI::Range(0.1, 600.0))
      ->type_name("10");
  verb->add_option("--inject", flags->injections,
                   "Make it wrong, to see it found: bit-flips=N, wrong-sm=N")
      ->type_name("WHAT");
  verb->add_option("--fault", flags->faults,
                   "A fault of simulated cards: NAME[=VALUE][@GPU]; see --list")
      ->type_name("FAULT");
  add_schedule_flags(*verb, *flags);
  verb->add_flag("--list", flags->list, "List tests and faults");
  verb->add_option("-o,--output", flags->output, "table, json or junit")
      ->check(CLI::IsMember({"table", "json", "junit"}))
      ->type_name("table|json|junit");
  verb->add_flag("--quiet", flags->quiet, "No progress");
  verb->add_flag("!--no-history", flags->history,
                 "Neither keep results nor compare with earlier ones");
  add_config_file_flag(*verb, flags->config);
  add_option_flags(*verb, flags->config, {OptionId::sim_profile, OptionId::data});
  verb->footer(diag_examples);
  add_diag_history_verb(*verb, exit_code);
  verb->callback([flags, verb, &exit_code] {
    if (verb->get_subcommands().empty()) exit_code = run_diag(*flags);
  });
}

}  // namespace stoker::app
