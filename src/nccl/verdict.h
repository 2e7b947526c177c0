// NCCL analyzer: why a job hangs or died, with its evidence. docs/specs/nccl.md says how it is decided.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"
#include "nccl/facts.h"

namespace stoker::nccl {

struct Verdict {
  Class verdict = Class::unknown;
  Confidence confidence = Confidence::unknown;
  std::vector<int> ranks;          // of the whole job; those to look at
  std::vector<std::string> hosts;  // where they run, or what the lines name
  std::string summary;             // one sentence
  std::string next_step;
  std::vector<Finding> findings;  // the cause first, then what else is worth to know
  int size = 0;                   // ranks in all; 0: not known
  std::string told_by;            // how this job's files were told from others'
  std::vector<std::string> files;
  std::vector<std::string> matrix;  // the ranks, those alike in one line
  std::vector<std::string> limits;  // what these files can't tell
};

struct Job;
// Of one of find_jobs().
Verdict judge_job(const Job& job, const Facts& facts);

// One a job, in the order in which the jobs first show; never empty where `facts` has a file.
std::vector<Verdict> judge(const Facts& facts);

}  // namespace stoker::nccl
