// NCCL analyzer: the verdict about one job whose processes are known, where files and answers may be of others too. A
// RAS port is one a host, a folder of logs has other runs, and numbers of processes are given again: what does not show
// that it is of these processes is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nccl/verdict.h"

namespace stoker::nccl {

struct OwnProcess {
  // Its number on the host, and within each of its own pid namespaces; NCCL's lines and answers have the last.
  std::vector<std::uint32_t> pids;
  // As it sees itself; up to the first dot is compared, as NCCL prints it (getHostName, misc/utils.cc). Empty:
  // not known, and no line is its.
  std::string host;

  // NCCL tells what getpid(2) says to the process: its number in the innermost of its namespaces, and no other.
  [[nodiscard]] bool calls_itself(std::uint32_t pid) const {
    return pid != 0 && !pids.empty() && pids.back() == pid;
  }
};

struct OwnJob {
  std::vector<OwnProcess> processes;
  std::set<std::uint32_t>
      files;  // indexes into Facts::files of those that its processes alone write
};

struct OwnVerdict {
  std::optional<Verdict> verdict;     // none: nothing of what was read is known to be of this job
  std::vector<std::string> left_out;  // what was read and is not used, with the reason
};

OwnVerdict judge_own(Facts facts, const OwnJob& own);

// A verdict in lines for people: itself, the lines of its first finding, what comes next, what it can't know.
std::vector<std::string> lines_of(const Verdict& verdict);

}  // namespace stoker::nccl
