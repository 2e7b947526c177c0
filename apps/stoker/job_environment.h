// Composition: the variables of NCCL and torch that running processes of this host were started with.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lint/env/environment.h"
#include "os/env.h"

namespace stoker::app {

// Of one process; nothing else of its environment is kept. not_found, no_permission, unavailable as os::read_environment.
Result<std::vector<lint::Variable>> environment_of_process(const os::Env& env, std::uint32_t pid);

// Of every process of Slurm's job `job` on this host, as their cgroups say; `unread` says which could not be read.
std::vector<std::vector<lint::Variable>> environments_of_job(const os::Env& env,
                                                             const std::string& job,
                                                             std::vector<std::string>& unread);

}  // namespace stoker::app
