// NCCL analyzer: which of the facts belong to one job. Several jobs may lie in one folder, and several in one file, as
// the attempts of a job that was started again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
  std::vector<std::uint32_t> processes, hits, watches, desyncs, exits, exceptions, dumps, ras;
  std::set<std::uint32_t> files;
  int size = 0;                    // ranks in all; 0: not known
  std::uint64_t communicator = 0;  // the id of the largest one; 0: not known
  std::map<int, RankInfo> ranks;   // those that something is known of
  std::unordered_map<std::uint32_t, int> rank_of_process;     // the first of each in `ranks`
  std::unordered_map<std::uint32_t, std::uint32_t> alone_in;  // file -> the one process in it
  bool kernel = false;       // is it to be sought in what kernel logs say?
  std::size_t progress = 0;  // lines that show that it went on
  std::size_t ends = 0;      // that it, or a rank of it, ended as it should
  std::string told_by;       // how its files were told from those of other jobs
};

// By communicator; where none is known, by folder. Never empty where `facts` has a file.
std::vector<Job> find_jobs(const Facts& facts);

// "run/fr-hang-3.pickle" -> "run/fr-hang-#.pickle": dumps of the ranks of one job are named alike.
std::string name_without_numbers(std::string_view path);

// The rank of a process in its job's largest communicator, or what its launcher put in front.
std::optional<int> rank_of(const Job& job, const Facts& facts, std::uint32_t process);

}  // namespace stoker::nccl
