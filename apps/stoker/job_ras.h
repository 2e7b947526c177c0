// Composition: what NCCL's RAS says to a process of this host, from within that process's network. A job's user chooses
// where its RAS listens; asked is loopback alone, so that nobody has this agent connect to a place of their choice.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/host_port.h"
#include "base/result.h"
#include "job_process.h"
#include "os/env.h"

namespace stoker::app {

// Where that process's RAS can be asked, in the order in which to try. invalid_input: nowhere, and why (NCCL_RAS_ENABLE=0, an
// address that is not loopback).
Result<std::vector<HostPort>> ras_addresses_of(const JobProcess& process);

struct RasAnswers {
  std::string address;
  std::vector<std::string> texts;  // one or two; of two, the second is `between` later
  std::string problem;             // why there is no second; empty: there is
};

// From within the process's network and with its user's rights alone, of which `job` are all processes: what another answers in their name is not taken.
// no_permission: it may not be entered, or who listens there is none of the job; unavailable: nobody listens there; timeout;
// corrupt: what answers is no RAS, or says too much.
Result<RasAnswers> ask_ras_of(const os::Env& env, const JobProcess& process,
                              const std::vector<JobProcess>& job, std::chrono::milliseconds timeout,
                              std::chrono::milliseconds between);

}  // namespace stoker::app
