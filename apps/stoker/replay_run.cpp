#include "replay_run.h"

#include <algorithm>

#include "device/record/replay.h"
#include "device/tee.h"
#include "event/nvml_xids.h"
#include "incident/node_run.h"
#include "settings_parts.h"

namespace stoker::app {
namespace {

constexpr Seconds look_period{1};
constexpr std::uint64_t progress_every = 1024;  // looks

// Looks at a node once a second, as the agent does.
class Looks {
 public:
  Looks(incident::NodeRun& run, MonotonicTime first, const ReplayRunParts& parts)
      : run_(run), first_(first), parts_(parts), next_(first + look_period) {}

  void pass_until(MonotonicTime at) {
    for (; next_ <= at; next_ = next_ + look_period) {
      run_.advance_to(next_);
      look();
    }
    run_.advance_to(at);
  }

  void look() {
    run_.look();
    if (++count_ % progress_every == 0 && parts_.progress) {
      parts_.progress(run_.clock().monotonic() - first_);
    }
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  incident::NodeRun& run_;
  const MonotonicTime first_;
  const ReplayRunParts& parts_;
  MonotonicTime next_;
  std::uint64_t count_ = 0;
};

class Runner {
 public:
  Runner(const device::record::Facts& facts, const ReplayRunParts& parts)
      : facts_(facts),
        run_({.monotonic = facts.first,
              .wall = facts.begin.wall,
              .store = store_options_of(facts.begin),
              .expected = parts.expected,
              .checks = parts.checks}),
        // A recording has nothing of the kernel's log.
        xids_(
            run_.clock(), "", [] { return true; },
            [this](const Event& told) { run_.hear({told}); }),
        heard_({&run_.heard(), &xids_}),
        looks_(run_, facts.first, parts),
        end_(parts.until > Nanoseconds{0} ? std::min(facts.last, facts.first + parts.until)
                                          : facts.last) {
    node_ = {.readings = [this](const auto& readings) { run_.store().on_node_readings(readings); },
             .costs = [this](const auto& costs) { run_.store().on_node_costs(costs); },
             .devices = [this](const NodeDevices& seen) { run_.store().on_node_devices(seen); }};
  }

  Result<void> play(device::record::FileReader& reader) {
    while (true) {
      const auto event = reader.next();
      if (!event) return fail(event.error());
      if (!*event || (*event)->told > end_) break;
      looks_.pass_until((*event)->told);
      if (const auto* told = std::get_if<device::record::WallTold>(&(*event)->what)) {
        run_.set_wall(told->wall);
      }
      device::record::tell(**event, heard_, node_);
    }
    looks_.pass_until(end_);
    looks_.look();
    return {};
  }

  [[nodiscard]] ReplayRun told() const {
    return {.begin = facts_.begin.wall,
            .length = end_ - facts_.first,
            .looks = looks_.count(),
            .gpus = run_.snapshot().gpus.size(),
            .hostname = facts_.begin.hostname,
            .entries = run_.chronicle().entries(),
            .incidents = run_.clerk().book().all()};
  }

 private:
  const device::record::Facts& facts_;
  incident::NodeRun run_;
  event::NvmlXids xids_;
  device::Tee heard_;
  device::record::NodeSink node_;
  Looks looks_;
  const MonotonicTime end_;
};

class TraceRunner {
 public:
  TraceRunner(const device::record::LoadTrace& trace, const ReplayRunParts& parts)
      : trace_(trace),
        parts_(parts),
        run_({.monotonic = first,
              .wall = {},
              .store = {.hostname = "load-trace"},
              .expected = parts.expected,
              .checks = parts.checks}),
        looks_(run_, first, parts) {
    device::SourceStatus running;
    running.state = device::SourceState::running;
    running.since = first;
    run_.heard().on_status(running);
    run_.heard().on_inventory(trace.inventory());
  }

  ReplayRun play() {
    const Nanoseconds end =
        parts_.until > Nanoseconds{0} ? std::min(parts_.until, trace_.length()) : trace_.length();
    for (const auto& row : trace_.rows()) {
      if (row.at > end) break;
      looks_.pass_until(first + row.at);
      device::record::LoadTrace::tell(row, run_.clock().monotonic(), run_.heard());
      if (row.owner) tell_owner(row);
    }
    looks_.pass_until(first + end);
    looks_.look();
    return {.begin = {},
            .dated = false,
            .length = end,
            .looks = looks_.count(),
            .gpus = trace_.gpus(),
            .hostname = "load-trace",
            .entries = run_.chronicle().entries(),
            .incidents = run_.clerk().book().all()};
  }

 private:
  // A node has been up for a while.
  static constexpr MonotonicTime first{Seconds(3600)};

  void tell_owner(const device::record::TraceRow& row) {
    attribution_.processes = {.reason = Reason::ok, .at = run_.clock().monotonic()};
    for (std::uint32_t n = 0; n < row.processes; ++n) {
      attribution_.owners[device::record::trace_pid(row.gpu, n)] = *row.owner;
    }
    run_.store().on_attribution(attribution_);
  }

  const device::record::LoadTrace& trace_;
  const ReplayRunParts& parts_;
  incident::NodeRun run_;
  Looks looks_;
  Attribution attribution_;
};

}  // namespace

ReplayRun run_trace(const device::record::LoadTrace& trace, const ReplayRunParts& parts) {
  return TraceRunner(trace, parts).play();
}

Result<ReplayRun> run_recording(device::record::FileReader reader, const ReplayRunParts& parts) {
  const device::record::Facts facts = reader.facts();
  Runner runner(facts, parts);
  if (auto played = runner.play(reader); !played) return fail(played.error());
  return runner.told();
}

}  // namespace stoker::app
