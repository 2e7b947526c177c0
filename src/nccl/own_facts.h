// NCCL analyzer: of facts from files of which some may be others', those of one job.
#pragma once

#include <string>
#include <vector>

#include "nccl/own_job.h"

namespace stoker::nccl {

// Leaves in `facts` what the job's own processes say, and those that share a communicator with them, or with one that does, by
// its id (NCCL 2.18 and later print it). Of what no process says, as torch's and a launcher's lines, what stands
// - in a file with communicators: behind the beginning of one of theirs;
// - in a file that the job's processes alone write: behind the first line of theirs, or where nobody else speaks in it;
// - in another: where only they speak in it.
// Dumps, where the job's processes write that file or one of the same name but for its numbers, or where a watchdog's line is
// left to compare them with. Kernel logs stay, they are of no job. Returns what was left out, by the name of its file.
std::vector<std::string> keep_own_facts(Facts& facts, const OwnJob& own);

}  // namespace stoker::nccl
