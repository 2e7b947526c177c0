// NCCL analyzer: who waits for whom. A group's ranks each say how many collectives they have called and finished; who
// has not called what the others wait in is missing. From torch's watchdog, its flight recorder, NCCL's own list of calls,
// and RAS alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nccl/job.h"

namespace stoker::nccl {

struct StateVerdict {
  Class verdict = Class::unknown;
  Confidence confidence = Confidence::unknown;
  std::vector<int> ranks;
  std::string why;  // one sentence
  std::vector<Place> evidence;
  std::string group;
  StateSource source = StateSource::log;
  std::optional<double> since;  // when the oldest wait began
};

// The groups of a job as far as anything tells of them.
std::vector<GroupStates> group_states(const Job& job, const Facts& facts);

// What they mean: at most one verdict, of the group that the others wait for.
std::optional<StateVerdict> judge_states(const std::vector<GroupStates>& groups, const Job& job);

// Of one group, those who say themselves, or of whom RAS says, that they have not called the oldest collective that others
// wait in; nullopt: none does.
struct Behind {
  std::vector<int> missing, waiting;
  std::vector<int> unnamed;  // those of either that are so because RAS names all others
  std::string what;          // "all_reduce of 8 elements #3"
};
std::optional<Behind> behind_in(const GroupStates& group);
// Those who wait in its oldest collective.
std::vector<int> waiting_in(const GroupStates& group);

struct RankRange {
  int first = 0;
  int last = 0;
};

// "rank 3", "ranks 0-2, 5"; "no rank" for none.
std::string rank_list(const std::vector<int>& ranks);
std::string range_list(const std::vector<RankRange>& ranges);

// "ALLREDUCE of 268435456 elements"
std::string op_text(const Op& op);

}  // namespace stoker::nccl
