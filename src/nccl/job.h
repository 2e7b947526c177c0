// NCCL analyzer: which of the facts belong to one job. Several jobs may lie in one folder, and several in one file, as
// the attempts of a job that was started again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nccl/facts.h"

namespace stoker::nccl {

struct RankInfo {
  std::optional<std::uint32_t> process;  // index into Facts::processes
  std::string host;
  std::string bus;
  int device = -1;
  bool complete = false;  // its communicator was initialised
};

// Numbers are indexes into the list of Facts with the same name.
struct Job {
  std::vector<std::uint32_t> processes, hits, watches, desyncs, exits, exceptions, kernel, dumps,
      ras;
  std::set<std::uint32_t> files;
  int size = 0;                    // ranks in all; 0: not known
  std::uint64_t communicator = 0;  // the id of the largest one; 0: not known
  std::map<int, RankInfo> ranks;   // those that something is known of
  std::size_t progress = 0;        // lines that show that it went on
  std::size_t ends = 0;            // that it, or a rank of it, ended as it should
  std::string told_by;             // how its files were told from those of other jobs
};

// By communicator; where none is known, by folder. Never empty where `facts` has a file.
std::vector<Job> find_jobs(const Facts& facts);

// The rank of a process in its job's largest communicator, or what its launcher put in front.
std::optional<int> rank_of(const Job& job, const Facts& facts, std::uint32_t process);

}  // namespace stoker::nccl
