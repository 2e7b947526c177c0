// Verb `record`: keep what this node's source tells in a file, without serving it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "agent.h"
#include "base/duration.h"
#include "command_line.h"
#include "settings_check.h"
#include "signals.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* record_examples = R"(Examples:
  stoker record day.rec                          until Ctrl-C, or the file has 512 MiB
  stoker record day.rec --for 10m --replace-identifiers
  stoker record sim.rec --sim hgx-h100 --data /tmp/sim
  stoker up --replay day.rec --speed 20          look at it
  stoker up --record day.rec                     record while serving

Exit codes: 0 recorded, until a signal, --for or --max-size ended it; 2 could not, or wrong usage.)";

constexpr Milliseconds report_period{1000};

struct RecordFlags {
  ConfigFlags config;
  std::string lasts;  // --for
  device::record::RecorderOptions recorder;
};

// Whether there is a driver to record from; everything else that a source may tell is worth keeping.
class DriverSeenOrNot final : public device::PartListener {
 public:
  void on_status(const device::SourceStatus& status) override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    status_ = status;
  }

  // Why there is nothing to record; empty: there is, or nobody knows yet.
  [[nodiscard]] std::string missing() const EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const bool none = status_.state == device::SourceState::library_missing ||
                      status_.state == device::SourceState::driver_missing;
    return none ? fmt::format(
                      "there is no NVIDIA driver here to record ({}); simulated cards: --sim "
                      "hgx-h100",
                      device::to_string(status_.state))
                : "";
  }

 private:
  mutable Mutex mutex_;
  device::SourceStatus status_ GUARDED_BY(mutex_);
};

// The samplers and the source of one node, all telling one recorder.
class Recording {
 public:
  Recording(SourceParts parts, device::record::Recorder& recorder, const config::Settings& settings,
            const std::string& data)
      : parts_(std::move(parts)),
        recorder_(recorder),
        tee_({&recorder, &driver_}),
        node_sampler_(make_node_sampler(settings, parts_.env, data,
                                        [this](const auto& readings, const auto& costs) {
                                          recorder_.on_node_readings(readings);
                                          recorder_.on_node_costs(costs);
                                        })),
        devices_watch_(parts_.env,
                       [this](const NodeDevices& seen) { recorder_.on_node_devices(seen); }) {
    parts_.source->start(tee_);
    node_sampler_->start();
    devices_watch_.start();
  }
  ~Recording() {
    devices_watch_.stop();
    node_sampler_->stop();
    parts_.source->stop();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] std::string missing_driver() const { return driver_.missing(); }

 private:
  SourceParts parts_;
  device::record::Recorder& recorder_;
  DriverSeenOrNot driver_;
  device::Tee tee_;
  std::unique_ptr<sample::NodeSampler> node_sampler_;
  sample::DevicesWatch devices_watch_;
};

std::string progress_text(const device::record::Progress& progress) {
  return fmt::format("{}, {:.1f} MiB, {} events", format_duration(progress.length),
                     static_cast<double>(progress.bytes) / (1 << 20), progress.events);
}

// On a terminal one line that changes; else nothing until the end.
void report(const device::record::Progress& progress) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\x1b[Krecording: {}", progress_text(progress));
}

// Until a signal, the time or the recorder ends it; then why.
Result<std::string> wait_for_end(const Recording& recording,
                                 const device::record::Recorder& recorder, Signals& signals,
                                 std::optional<Nanoseconds> lasts, bool wait_driver) {
  const auto began = system_clock().monotonic();
  while (true) {
    auto pause = Nanoseconds(report_period);
    if (lasts) pause = std::min(pause, *lasts - (system_clock().monotonic() - began));
    if (pause <= Nanoseconds(0)) return "the time is over";
    // Rounded up: a wait of 0 ms would be none.
    const int signal =
        signals.wait(std::chrono::duration_cast<Milliseconds>(pause) + Milliseconds(1));
    if (signal == SIGINT || signal == SIGTERM) return "a signal";
    if (auto missing = recording.missing_driver(); !missing.empty() && !wait_driver) {
      return fail(ErrorCode::unavailable, std::move(missing));
    }
    const auto progress = recorder.progress();
    if (!progress.ended.empty()) return progress.ended;
    report(progress);
  }
}

int record(const RecordFlags& flags, const config::Settings& settings,
           std::optional<Nanoseconds> lasts) {
  Signals signals;
  std::optional<DataFolder> data;
  if (!settings.text(config::OptionId::sim_profile).empty()) {
    auto taken = DataFolder::take(settings.text(config::OptionId::data));
    if (!taken) return complain(taken.error().describe());
    data = std::move(*taken);
  }
  auto parts = make_source(settings, data ? data->path() : "");
  if (!parts) return complain(parts.error().describe());
  auto recorder = device::record::Recorder::start(parts->env->clock(), flags.recorder,
                                                  begin_of(settings, *parts));
  if (!recorder) return complain(recorder.error().describe());
  Result<std::string> why = "";
  {
    const Recording recording(std::move(*parts), **recorder, settings, data ? data->path() : "");
    why = wait_for_end(recording, **recorder, signals, lasts,
                       settings.flag(config::OptionId::driver_wait));
    (*recorder)->finish(why ? *why : why.error().message());
  }
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
  if (!why) {
    ::unlink(flags.recorder.path.c_str());  // holds nothing but that
    return complain(why.error().describe());
  }
  fmt::print("recorded {}: {}; ended by: {}\n", flags.recorder.path,
             progress_text((*recorder)->progress()), *why);
  return exit_nothing_wrong;
}

int run(const RecordFlags& flags) {
  const auto settings = resolve_settings(flags.config);
  if (!settings) return exit_could_not;
  std::vector<Finding> findings;
  check_settings(*settings, findings);
  fmt::print(stderr, "{}", render_table(findings));
  if (!findings.empty()) return exit_could_not;
  if (is_replay(*settings)) return complain("a recording is not recorded again: unset replay.file");
  std::optional<Nanoseconds> lasts;
  if (!flags.lasts.empty()) {
    const auto parsed = parse_duration(flags.lasts);
    if (!parsed) return complain(fmt::format("--for: {}", parsed.error().message()));
    lasts = *parsed;
  }
  return record(flags, *settings, lasts);
}

}  // namespace

void add_record_verb(CLI::App& app, int& exit_code) {
  using config::OptionId;
  auto flags = std::make_shared<RecordFlags>();
  CLI::App* verb = app.add_subcommand("record", "Keep what is read in a file, to be replayed");
  verb->add_option("file", flags->recorder.path, "The file to make; it must not be there yet")
      ->required()
      ->type_name("FILE");
  verb->add_option("--for", flags->lasts, "How long, e.g. 10m; until a signal if not given")
      ->type_name("TIME");
  verb->add_option("--max-size", flags->recorder.max_bytes,
                   "Ends when the file has so much (default 512MiB)")
      ->transform(CLI::Validator(CLI::AsSizeValue(false)).description(""))
      ->type_name("SIZE");
  verb->add_flag("--replace-identifiers", flags->recorder.replace_identifiers,
                 "Made-up UUIDs, serials and host name, the same one always for the same one");
  add_config_file_flag(*verb, flags->config);
  add_option_flags(
      *verb, flags->config,
      {OptionId::sim_profile, OptionId::data, OptionId::driver_wait, OptionId::log_level});
  verb->footer(record_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
