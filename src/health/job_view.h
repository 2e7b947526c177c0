// Health stage: the jobs of a node, by whose processes run on which cards, and whether each goes on. A card alone can't
// tell "waits for a peer that works" from "hangs": the job's other cards and its processes can. Pure; docs/specs/hangs.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "health/activity.h"
#include "model/reading.h"
#include "store/snapshot.h"

namespace stoker::health {

enum class Progress : std::uint8_t {
  goes_on,  // a card of the job works, or none of them waits
  hangs,    // cards wait, others rest, and what should run there does nothing on the host either
  waits_on_host,  // the same, but it does
  unclear,        // cards wait, and what for can't be told
};

// One card in its job.
struct CardWork {
  CardActivity activity;
  // The one job whose processes run on it, a word that is equal on its cards and on no other; empty: none does, several
  // do, or whose they are is not known.
  std::string job;
  Progress progress = Progress::goes_on;
  // Of the job's cards the one that is told about: the first that rests, or else the first that waits.
  bool speaks = false;
  std::optional<double> host_cpu_percent;  // of one core, of all its processes that were looked at
  std::string story;  // "Slurm job 4711: GPU 0 (rank 0, pid 17) waits in a kernel for ..."
  std::vector<std::string> evidence;  // a line a card or process
};

// By the place of each GPU in the snapshot.
std::vector<CardWork> look_at_jobs(const store::Snapshot& snapshot);

}  // namespace stoker::health
