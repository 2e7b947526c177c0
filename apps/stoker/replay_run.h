// Composition: a recording run through the store, the checks and the incidents as fast as it can be read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/record/file.h"
#include "device/record/load_trace.h"
#include "health/check.h"
#include "health/expected.h"
#include "incident/chronicle.h"
#include "model/incident.h"

namespace stoker::app {

struct ReplayRunParts {
  std::vector<health::Check> checks;
  health::Expected expected;
  Nanoseconds until{0};  // ends there, counted from the recording's begin; 0: at its end
  // How far it is, now and then.
  std::function<void(Nanoseconds position)> progress;
};

struct ReplayRun {
  WallTime begin;
  bool dated =
      true;  // false: of a load trace, which tells no date; only what passed since its begin counts
  Nanoseconds length{0};  // of what was run
  std::uint64_t looks = 0;
  std::size_t gpus = 0;
  std::string hostname;
  std::vector<incident::Entry> entries;
  std::vector<Incident> incidents;  // as they are at the end, oldest first
};

// corrupt: a block in the middle does not hold together.
Result<ReplayRun> run_recording(device::record::FileReader reader, const ReplayRunParts& parts);

// The same for a load trace. Who owns its processes is told as far as it says so.
ReplayRun run_trace(const device::record::LoadTrace& trace, const ReplayRunParts& parts);

// For people: a line an entry from `since` on, and what there is at the end.
std::string replay_table(const ReplayRun& run, Nanoseconds since);
// {"schema":"stoker.dev/v1/timeline", ...}, docs/specs/recording.md.
std::string replay_json(const ReplayRun& run, Nanoseconds since);

}  // namespace stoker::app
