// Composition: one process of a job that looks hung, as who is to ask about it has to know it: whose it is, its network
// and its files, which may be others than ours, and what its environment says of NCCL. What belongs to its user is
// touched only after become() has taken that user's rights and no more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "os/env.h"

namespace stoker::app {

struct Rights {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  friend bool operator==(const Rights&, const Rights&) = default;
};

struct JobProcess {
  std::uint32_t pid = 0;
  Rights rights;
  std::vector<std::uint32_t> pids;  // on the host, and within each of its own pid namespaces
  std::string host;                 // as it sees itself, [A-Za-z0-9.-]; empty: see host_problem
  std::string host_problem;         // why it is not known; empty: it is
  std::optional<int> rank;
  WallTime began;
  std::map<std::string, std::string> environment;  // of NCCL, torch and launchers alone
  std::string environment_problem;                 // why it is not known; empty: it is
  UniqueFd network;                                // its network namespace; none: it is ours
  std::string network_problem;                     // why that can't be entered; empty: it can
  std::string root;                  // where its files lie, as a folder that this process may open
  UniqueFd root_fd;                  // keeps `root`; none: it has the machine's files
  std::vector<std::string> outputs;  // the files behind its standard output and error

  // It has neither a network nor files of its own.
  [[nodiscard]] bool is_simulated() const;
  // Of `environment`; empty: it is not set.
  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  }
};

// not_found: it has ended. What of it can't be known has its reason in it.
Result<JobProcess> look_at_process(const os::Env& env, std::uint32_t pid);

// Gives up all rights of this thread but those of that user, for good, and so those of the threads that it starts from then on.
// Where it is not root it can't, and need not: what it may read is its own user's. no_permission: that is another one.
Result<void> become(const Rights& rights);

}  // namespace stoker::app
