// Health stage: which job a finding about a card is about. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/entity.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::health {

struct JobHere {
  std::string key;                  // equal for all of one job on this node, and for no other's
  std::vector<Entity> cards;        // on which its processes run
  std::vector<std::uint32_t> pids;  // all of them, rising; never empty
};

// Is it about a card whose job looks hung, or waits for its host?
bool tells_of_hang(const Finding& finding);

// Whose work runs on that card now. nullopt: no process does, or whose they are is not known, or they are of several jobs.
std::optional<JobHere> job_on(const Entity& card, const store::Snapshot& snapshot);

}  // namespace stoker::health
