// Machine stage: what a process and those that it started have done on the host, as /proc counts it (proc(5)).
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"
#include "os/process_facts.h"

namespace stoker::os {

struct ProcessWork {
  Nanoseconds cpu{0};          // of all their threads since they began
  std::uint64_t io_bytes = 0;  // through read(2), write(2) and their like: files, pipes, sockets
  bool waits_in_kernel =
      false;  // one of them sleeps in the kernel (state D): for a disk or a network file system
};

// Of `id` and its living descendants; those that ended are counted where their parent waited for them. Both only rise
// as long as nobody leaves the family. not_found: the process has ended. no_permission: only its own user and
// CAP_SYS_PTRACE may see what it reads and writes. unavailable: this kernel lists no children, or there are too many.
Result<ProcessWork> read_work(const Env& env, const ProcessId& id);

}  // namespace stoker::os
