// Composition: whether what listens at an address is a job's. Anybody on a host may listen on a port that nobody has, and
// answer for others: the numbers of their processes are no secret.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/host_port.h"
#include "base/result.h"
#include "job_process.h"
#include "os/env.h"

namespace stoker::app {

// The sockets of a job's processes, and whose one may be of which they can't be seen.
struct JobSockets {
  std::set<std::string> inodes;
  std::set<std::uint32_t> users;
};
// By the processes' descriptors (/proc/PID/fd), which takes the rights that become() gives up.
JobSockets sockets_of(const os::Env& env, const std::vector<JobProcess>& job);

// In this thread's network namespace, by /proc/net/tcp and tcp6 (proc_net_tcp(5)): every socket that listens there is one of
// `sockets`. not_found: none listens; no_permission: one is somebody else's; io: that can't be told.
Result<void> listens_for(const JobSockets& sockets, const HostPort& address);

}  // namespace stoker::app
