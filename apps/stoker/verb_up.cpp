// Verb `up`: watch this node in the foreground and serve what is seen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "agent.h"
#include "base/allocator.h"
#include "base/log.h"
#include "command_line.h"
#include "end_in_time.h"
#include "settings_check.h"
#include "signals.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* up_examples =
    R"(Prints "ready http://HOST:PORT" when it serves; Ctrl-C ends it, SIGHUP reads the config again.

Examples:
  stoker up                          this machine's GPUs, http://127.0.0.1:9400
  stoker up --sim hgx-h100 --data /tmp/sim --listen 127.0.0.1:0
  stoker up --wait-driver            also where the driver is not loaded yet
  stoker up --record day.rec         and keep what is seen, to look at it again
  stoker up --replay day.rec --speed 20

Every option can stand in the config file or the environment: stoker config show.
Exit codes: 0 ended by a signal, 2 could not start: a wrong option, an address or data folder in use, or no
NVIDIA driver (with --wait-driver it stays and watches for one).)";

// How long to wait for the first word about the driver, and then for the first readings, before
// serving what is known by then.
constexpr Seconds first_word{10};
constexpr Seconds first_readings{5};
constexpr Milliseconds look_again{20};

// Waits until `done`, at most `limit`; false if a signal asks to end. SIGHUP is noted in `reload_asked`.
template <typename Done>
bool wait_until(Signals& signals, bool& reload_asked, Seconds limit, Done done) {
  const auto deadline = system_clock().monotonic() + limit;
  while (!done() && system_clock().monotonic() < deadline) {
    const int signal = signals.wait(look_again);
    if (signal == SIGINT || signal == SIGTERM) return false;
    if (signal == SIGHUP) reload_asked = true;
  }
  return true;
}

bool has_no_driver(const device::SourceStatus& status) {
  return status.state == device::SourceState::library_missing ||
         status.state == device::SourceState::driver_missing;
}

int say_no_driver(const device::SourceStatus& status) {
  fmt::print(stderr,
             "stoker: there is no NVIDIA driver on this machine, so there is nothing to watch.\n"
             "  {}\n"
             "To see Stoker with simulated cards:    stoker up --sim hgx-h100\n"
             "To wait for the driver to be loaded:   stoker up --wait-driver\n",
             status.detail.empty() ? device::to_string(status.state) : status.detail);
  return exit_could_not;
}

// What the driver in use is, against what was asked for.
void say_simulated(const config::Settings& settings,
                   const std::optional<device::DriverInfo>& driver) {
  const std::string& profile = settings.text(config::OptionId::sim_profile);
  if (driver && driver->simulated) {
    fmt::print(stderr, "These cards are SIMULATED{}.\n",
               profile.empty() ? ", as the NVIDIA management library that was loaded says"
                               : fmt::format(" ({}): they exist only in files under {}/sim",
                                             profile, settings.text(config::OptionId::data)));
  } else if (driver && !profile.empty()) {
    fmt::print(
        stderr,
        "{} was asked for, but the library that was loaded is NOT Stoker's simulated one: these "
        "cards may be real. See the options sim.library and probe.library.\n",
        profile);
  } else if (!profile.empty()) {
    fmt::print(stderr, "SIMULATED cards were asked for ({}); their driver has not answered yet.\n",
               profile);
  }
}

void say_replay(const Agent& agent) {
  const auto replay = agent.replay();
  if (!replay) return;
  fmt::print(stderr, "This is a REPLAY of {}: {} recorded from {}, {} times as fast.\n",
             replay->file, format_duration(replay->length), format_utc(replay->recorded_at),
             replay->speed);
  if (replay->lost_bytes > 0) {
    fmt::print(stderr, "Its last {} bytes were not written whole and are left out.\n",
               replay->lost_bytes);
  }
}

void say_history(const Agent& agent) {
  fmt::print(stderr, "History: {}.\n", history::describe(agent.history()));
}

// Takes over what may change; `now` is what is in force.
void reload(Agent& agent, const ConfigFlags& flags, config::Settings& now) {
  const auto settings = resolve_settings(flags);
  if (!settings) return log::warning("config_not_reloaded");
  for (const config::Option* row : config::changed(now, *settings)) {
    log::info(row->live ? "config_taken_over" : "config_needs_restart",
              {{"option", std::string(row->key)},
               {"value", config::value_text(settings->value(row->id))}});
  }
  config::take_live(*settings, now);
  agent.reload(*settings);
}

// Until a signal asks to end. `reload_asked`: SIGHUP came before.
void serve(Agent& agent, Signals& signals, const ConfigFlags& flags, config::Settings now,
           bool reload_asked = false) {
  if (reload_asked) reload(agent, flags, now);
  agent.serve();
  say_history(agent);
  fmt::print("ready http://{}\n", agent.address());
  std::fflush(stdout);
  for (int signal = 0; signal != SIGINT && signal != SIGTERM;) {
    signal = signals.wait(Milliseconds(-1));
    if (signal == SIGHUP) reload(agent, flags, now);
  }
}

int run_agent(const ConfigFlags& flags) {
  const auto settings = resolve_settings(flags);
  if (!settings) return exit_could_not;
  if (!is_replay(*settings) &&
      settings->origin(config::OptionId::replay_speed).kind == config::OriginKind::flag) {
    return complain("--speed is of a replay: it needs --replay FILE");
  }
  std::vector<Finding> findings;
  check_settings(*settings, findings);
  fmt::print(stderr, "{}", render_table(findings));
  const bool wrong = std::ranges::any_of(
      findings, [](const Finding& one) { return one.severity == Severity::error; });
  if (wrong) return exit_could_not;

  settle_allocator();
  Signals signals;
  EndInTime end;  // ends after the agent
  const auto agent = Agent::start(*settings);
  if (!agent) return complain(agent.error().describe());
  if (is_replay(*settings)) {
    say_replay(**agent);
    serve(**agent, signals, flags, *settings);
    end.begin();
    return exit_nothing_wrong;
  }
  bool reload_asked = false;
  // A source that runs says a moment later which driver it has.
  const bool heard = wait_until(signals, reload_asked, first_word, [&] {
    const auto state = (*agent)->status().state;
    return state != device::SourceState::starting &&
           (state != device::SourceState::running || (*agent)->driver().has_value());
  });
  if (!heard) return exit_nothing_wrong;
  const auto status = (*agent)->status();
  say_simulated(*settings, (*agent)->driver());
  if (has_no_driver(status) && !settings->flag(config::OptionId::driver_wait)) {
    return say_no_driver(status);
  }
  // Only a source that runs will bring readings; what else is so is worth serving at once.
  const bool go_on = wait_until(signals, reload_asked, first_readings, [&] {
    return status.state != device::SourceState::running || (*agent)->has_readings();
  });
  if (!go_on) return exit_nothing_wrong;
  serve(**agent, signals, flags, *settings, reload_asked);
  end.begin();
  return exit_nothing_wrong;
}

}  // namespace

void add_up_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ConfigFlags>();
  CLI::App* verb =
      app.add_subcommand("up", "Watch this node and serve what is seen, in the foreground");
  add_config_file_flag(*verb, *flags);
  add_option_flags(*verb, *flags);
  verb->footer(up_examples);
  verb->callback([flags, &exit_code] { exit_code = run_agent(*flags); });
}

}  // namespace stoker::app
