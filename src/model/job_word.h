// Ground stage: what was found out about a job that looks hung, by asking NCCL and reading what the job writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/entity.h"

namespace stoker {

struct JobWord {
  // Which job it is: a word that is no other's (health/job_here.h), and its processes on this node. Both are asked for before
  // the word counts: a job's cards are the next one's soon.
  std::string job;
  std::vector<std::uint32_t> pids;
  std::vector<Entity> cards;  // the job's on this node
  // A class and a confidence of `stoker nccl` (docs/specs/nccl.md); empty: nothing could be read.
  std::string verdict;
  std::string confidence;
  bool blames = false;  // likely or certain, and something is wrong
  std::string summary;  // one sentence
  std::string next_step;
  // The verdict in one line, the lines that it rests on, what they can't tell, and what could not be asked.
  std::vector<std::string> lines;
  WallTime at;

  friend bool operator==(const JobWord&, const JobWord&) = default;
};

}  // namespace stoker
