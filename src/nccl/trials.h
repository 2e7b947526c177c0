// NCCL analyzer: which runs would tell the network's part from the rest, with the exact environment for the job at hand.
#pragma once

#include <string>

#include "nccl/job.h"
#include "nccl/sign.h"

namespace stoker::nccl {

// "run it once over TCP, ...: NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=eth0"; and where SHARP was asked for, the run without
// it and what it needs. Empty where the verdict leaves nothing to try, or the job does not leave its host.
// `stands_still`: all ranks wait in one call alike.
std::string trials_of(Class verdict, bool stands_still, const Job& job, const Facts& facts);

}  // namespace stoker::nccl
