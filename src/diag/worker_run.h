// Diag stage: a run as the program that asked for it sees it: starts the worker process, hears what it finds, and lets
// no card hang it. Nothing here touches a card.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "diag/plan.h"

namespace stoker::diag {

struct WorkerOptions {
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments = {"worker"};
  std::vector<std::string> environment;
  double allowed_scale = 1;  // of what a step may take (test_row.h); tests shorten it
  Nanoseconds open_within =
      Seconds(60);  // until the cards are open: a driver without persistence loads its firmware
  // A driver call may take 45 s before the driver itself gives it up, and a process that is killed in one has frozen cards
  // (docs/specs/probe.md): no step is given up before this, and the worker, once asked to end, has these two. After the second
  // it ends by itself, too: nobody may be left who would kill it.
  Nanoseconds least_allowed = Seconds(60);
  Nanoseconds term_after = Seconds(60);
  Nanoseconds kill_after = Seconds(120);
};

struct RunReport {
  std::vector<Measurement> found;  // every test of every card of the plan, once or (peers) as told
  std::vector<std::string> notes;
  std::string problem;   // why the run as a whole could not be; empty: it could
  bool stopped = false;  // by `stop`
  // Indexes of the cards of which the worker told every test of the plan; NCCL's, which is never needed, is not asked about.
  std::set<std::uint32_t> whole;
};

struct RunWatch {
  std::function<void(int pid)> on_started;           // may be empty
  std::function<void(const Began&)> on_began;        // may be empty
  std::function<void(const Measurement&)> on_found;  // may be empty
  // Asked several times a second; may be empty. True once ends the run, and true again leaves a worker that does not end.
  std::function<bool()> stop;
};

// Runs `plan` in a worker and waits for it. A test that was planned and of which nothing was told is in the report too:
// hindered, with why. A card that does not come back from a step in the time allowed has failed it ("did not return"); the
// worker is then ended, and what it had not told of other cards is hindered. One that does not end is left, and `problem` says
// so.
RunReport run_in_worker(const Plan& plan, const WorkerOptions& options, const RunWatch& watch);

}  // namespace stoker::diag
