// NCCL analyzer: who waits for whom over all groups of a job's dumps, sends and receives among them. A rank that is
// missing in one group and waits in another is not the one; where everybody waits for another, they are in a different
// order.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nccl/job.h"
#include "nccl/states.h"

namespace stoker::nccl {

// One that waits for others, by its own word and by theirs.
struct Wait {
  int rank = 0;
  std::set<int> others;
  Confidence confidence = Confidence::certain;
  bool transfer = false;  // a send or a receive
  std::string text;       // "rank 1 waits in a receive from rank 0, which has sent it 3, not 4"
  std::vector<Place> evidence;
};

// In sends and receives, by the dumps of both sides. A dump whose ring has lost its beginning counts for nothing.
std::vector<Wait> transfer_waits(const Job& job, const Facts& facts);

// Where sends and receives, or an order, are the answer; nullopt: they are not, and the groups tell by themselves.
std::optional<StateVerdict> judge_graph(const std::vector<GroupStates>& groups,
                                        const std::vector<Wait>& transfers);

// A rank that is missing in a collective and whose dump ends in a send or receive may wait there itself: then it is blamed
// less surely.
void settle_transfers(StateVerdict& verdict, const Job& job, const Facts& facts);

}  // namespace stoker::nccl
