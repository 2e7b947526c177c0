// Composition: whether what listens at an address is a job's. Anybody on a host may listen on a port that nobody has, and
// answer for others: the numbers of their processes are no secret.
#pragma once

#include <vector>

#include "base/host_port.h"
#include "base/result.h"
#include "job_process.h"
#include "os/env.h"

namespace stoker::app {

// In this thread's network namespace, by /proc/net/tcp and tcp6 (proc_net_tcp(5)): every socket that listens there is one of
// the job's processes' descriptors, or at least its user's, where they may not be seen. not_found: none listens;
// no_permission: one is somebody else's; io: that can't be told.
Result<void> listens_for(const os::Env& env, const std::vector<JobProcess>& job,
                         const HostPort& address);

}  // namespace stoker::app
