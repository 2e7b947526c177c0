// Busy or hung: what real cards read (tests/fixtures/load-traces), with the last ten seconds held for minutes, through
// the store and the checks that are built in.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>

#include "device/record/load_trace.h"
#include "health/check_engine.h"
#include "health/checks.h"
#include "store/store_test_support.h"

namespace stoker {
namespace {

using device::record::LoadTrace;
using device::record::trace_pid;
using device::record::TraceRow;

LoadTrace trace_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto trace = LoadTrace::read(text.str(), path);
  if (!trace) throw std::runtime_error(trace.error().message());
  return *trace;
}
LoadTrace fixture(const std::string& name) {
  return trace_of(STOKER_SOURCE_DIR "/tests/fixtures/load-traces/" + name + ".jsonl");
}

// Whose the processes are, and what they do, by GPU.
using Owners = std::function<ProcessOwner(std::uint32_t gpu)>;

ProcessOwner rank(std::uint32_t gpu, double cpu_percent = 0.1, double io_per_second = 0) {
  return {.job = SlurmJob{.id = "4711", .step = "0"},
          .launch = {.id = "10.0.0.1:29500", .rank = gpu, .ranks = 2},
          .work = {.reason = Reason::ok,
                   .cpu_percent = cpu_percent,
                   .io_per_second = io_per_second,
                   .over = Seconds(60)}};
}

// The checks about jobs that fired at some time while the trace was held for `length`, with what they said first.
class Watch {
 public:
  Watch(const LoadTrace& trace, const Owners& owners, Nanoseconds length) {
    const LoadTrace held = trace.held(Seconds(10), length);
    store_.on_status(store::status_of(device::SourceState::running));
    store_.on_inventory(held.inventory());
    Nanoseconds second{0};
    for (const TraceRow& row : held.rows()) {
      for (; second + Seconds(1) <= row.at; second += Seconds(1)) look(second + Seconds(1));
      clock_.advance(row.at - now_);
      now_ = row.at;
      LoadTrace::tell(row, clock_.monotonic(), store_);
      if (owners) tell_owners(row, owners);
    }
  }

  [[nodiscard]] std::set<std::string> fired() const {
    std::set<std::string> ids;
    for (const auto& [id, finding] : first_) ids.insert(id);
    return ids;
  }
  // At the last look.
  [[nodiscard]] std::set<std::string> last() const { return last_; }
  [[nodiscard]] const Finding& finding(const std::string& id) const { return first_.at(id); }
  [[nodiscard]] Nanoseconds when(const std::string& id) const { return when_.at(id); }

 private:
  void tell_owners(const TraceRow& row, const Owners& owners) {
    attribution_.processes = {.reason = Reason::ok, .at = clock_.monotonic()};
    for (std::uint32_t n = 0; n < row.processes; ++n) {
      attribution_.owners[trace_pid(row.gpu, n)] = owners(row.gpu);
    }
    store_.on_attribution(attribution_);
  }
  void look(Nanoseconds at) {
    last_.clear();
    for (const Finding& finding : engine_.evaluate(store_.snapshot())) {
      const bool about_jobs = finding.rule.starts_with("job-") || finding.rule == "gpu-starved";
      if (!about_jobs || finding.state != FindingState::firing) continue;
      last_.insert(finding.rule);
      if (first_.emplace(finding.rule, finding).second) when_[finding.rule] = at;
    }
  }

  ManualClock clock_;
  Nanoseconds now_{0};
  store::Store store_{clock_, {.hostname = "node1"}};
  Attribution attribution_;
  health::CheckEngine engine_{health::built_in_checks()};
  std::map<std::string, Finding> first_;
  std::map<std::string, Nanoseconds> when_;
  std::set<std::string> last_;
};

const Owners one_job = [](std::uint32_t gpu) { return rank(gpu); };
using Fired = std::set<std::string>;

TEST(LoadTraces, AnAllReduceWhoseOtherRankSleepsIsAHangWithBothGpusNamed) {
  const Watch watch(fixture("hang_allreduce"), one_job, Seconds(180));
  EXPECT_EQ(watch.fired(), (Fired{"job-hung"}));
  const Finding& hung = watch.finding("job-hung");
  EXPECT_EQ(hung.entity.id, "GPU-trace-1") << "the missing one";
  EXPECT_EQ(hung.message,
            "No card of the job goes on: Slurm job 4711: GPU 0 (rank 0, pid 5000000) waits in a "
            "kernel for GPU 1 (rank 1, "
            "pid 5001000), which does nothing on the host either");
  EXPECT_EQ(hung.action, Action::restart_job);
  EXPECT_GE(watch.when("job-hung"), Seconds(60));
}

TEST(LoadTraces, WhatOtherLoadsReadIsNoHangHoweverLong) {
  for (const char* name : {"idle", "train_ddp", "decode", "alu", "starved", "pipeline_wait"}) {
    const Watch watch(fixture(name), one_job, std::chrono::minutes(15));
    EXPECT_EQ(watch.fired(), Fired{}) << name;
  }
}

TEST(LoadTraces, ARankThatComputesOrMovesDataIsWaitedForAndNoHang) {
  const Watch compiles(
      fixture("hang_allreduce"), [](std::uint32_t gpu) { return rank(gpu, 97); }, Seconds(180));
  EXPECT_EQ(compiles.fired(), (Fired{"job-waits-on-host"}));
  EXPECT_EQ(compiles.finding("job-waits-on-host").message,
            "Slurm job 4711: GPU 0 (rank 0, pid 5000000) waits in a kernel for GPU 1 (rank 1, pid "
            "5001000), which is busy on "
            "the host");
  const Watch writes(
      fixture("hang_allreduce"), [](std::uint32_t gpu) { return rank(gpu, 0.5, 2e6); },
      Seconds(180));
  EXPECT_EQ(writes.fired(), (Fired{"job-waits-on-host"}));
  const Watch sleeps_on_disk(
      fixture("hang_allreduce"),
      [](std::uint32_t gpu) {
        ProcessOwner owner = rank(gpu);
        owner.work.waits_in_kernel = true;
        return owner;
      },
      Seconds(180));
  EXPECT_EQ(sleeps_on_disk.fired(), (Fired{"job-waits-on-host"}));
}

TEST(LoadTraces, ACardThatWaitsForItsLoaderIsStarved) {
  const Owners loads = [](std::uint32_t gpu) { return rank(gpu, 310, 4e7); };
  const Watch watch(fixture("starved"), loads, std::chrono::minutes(20));
  EXPECT_EQ(watch.fired(), (Fired{"gpu-starved"}));
  EXPECT_GE(watch.when("gpu-starved"), Nanoseconds(std::chrono::minutes(10)));
  EXPECT_EQ(Watch(fixture("train_ddp"), loads, std::chrono::minutes(20)).fired(), Fired{});
}

TEST(LoadTraces, WithoutAllTheProofItIsASuspicion) {
  const LoadTrace hang = fixture("hang_allreduce");
  const std::map<std::string, Owners> lacking = {
      {"nobody's", {}},
      {"no job", [](std::uint32_t) { return ProcessOwner{.user = "ada"}; }},
      {"each a job of its own",
       [](std::uint32_t gpu) {
         ProcessOwner owner = rank(gpu);
         owner.launch = {};
         owner.job->id = std::to_string(gpu);
         return owner;
       }},
      {"its process can't be looked at", [](std::uint32_t gpu) {
         ProcessOwner owner = rank(gpu);
         owner.work = {.reason = Reason::no_permission};
         return owner;
       }}};
  for (const auto& [what, owners] : lacking) {
    const Watch watch(hang, owners, Seconds(180));
    EXPECT_EQ(watch.fired(), (Fired{"job-suspect"})) << what;
    EXPECT_EQ(watch.finding("job-suspect").severity, Severity::info) << what;
  }
}

// A card before Hopper tells nothing of its units.
TEST(LoadTraces, WithoutGpmItIsASuspicion) {
  std::ifstream file(STOKER_SOURCE_DIR "/tests/fixtures/load-traces/hang_allreduce.jsonl");
  std::string text;
  for (std::string line; std::getline(file, line);) {
    for (const char* key :
         {"\"tensor\"", "\"dram\"", "\"fp64\"", "\"fp32\"", "\"fp16\"", "\"sm\""}) {
      const auto at = line.find(key);
      line.replace(at, std::string(key).size(), "\"-\"");
    }
    text += line + "\n";
  }
  const auto trace = LoadTrace::read(text, "without GPM");
  ASSERT_TRUE(trace);
  EXPECT_EQ(Watch(*trace, one_job, Seconds(180)).fired(), (Fired{"job-suspect"}));
}

// The lines of a fixture, from the moment `begin` on.
std::string lines_from(const std::string& name, double begin) {
  std::ifstream file(STOKER_SOURCE_DIR "/tests/fixtures/load-traces/" + name + ".jsonl");
  const std::string mark = "{\"t\": ";
  std::string text;
  std::optional<double> first;
  for (std::string line; std::getline(file, line);) {
    const auto comma = line.find(',');
    const double at = std::stod(line.substr(mark.size(), comma - mark.size()));
    first = first.value_or(at);
    text += mark + std::to_string(at - *first + begin) + line.substr(comma) + "\n";
  }
  return text;
}

TEST(LoadTraces, AJobThatGoesOnNowAndThenNeverHangs) {
  // Fifty seconds of waiting, ten of work, for half an hour: a slow evaluation, say.
  std::string text;
  for (double begin = 0; begin < 1800; begin += 60) {
    for (double wait = 0; wait < 50; wait += 10) text += lines_from("hang_allreduce", begin + wait);
    text += lines_from("train_ddp", begin + 50);
  }
  const auto trace = LoadTrace::read(text, "now and then");
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(Watch(*trace, one_job, Seconds(0)).fired(), Fired{});
}

TEST(LoadTraces, AHangThatEndsIsTakenBack) {
  std::string text;
  for (double begin = 0; begin < 120; begin += 10) text += lines_from("hang_allreduce", begin);
  text += lines_from("train_ddp", 120) + lines_from("train_ddp", 130);
  const auto trace = LoadTrace::read(text, "hangs and goes on");
  ASSERT_TRUE(trace) << trace.error().message();
  const Watch watch(*trace, one_job, Seconds(0));
  EXPECT_EQ(watch.fired(), Fired{"job-hung"});
  EXPECT_EQ(watch.last(), Fired{});
}

}  // namespace
}  // namespace stoker
