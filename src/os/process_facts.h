// Machine stage: who runs a process, as /proc tells (proc(5)).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"

namespace stoker::os {

// A pid is given again when its process has ended; with the time of its start it is one process.
struct ProcessId {
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, in the kernel's USER_HZ: /proc/PID/stat, field 22
  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

struct ProcessFacts {
  ProcessId id;
  std::optional<std::uint32_t> uid;  // the effective one
  std::string cgroup;                // /proc/PID/cgroup as it is; empty: it can't be read
};

// What /proc tells about `pid`. not_found: it has ended, also while it was looked at, so nothing of a
// process that got the pid after it is ever in the answer.
Result<ProcessFacts> read_process(const Env& env, std::uint32_t pid);

// The variables `names` of a process's environment, as they were when its program began; "NCCL_*" are all that begin
// so. The rest,
// which is full of secrets, is overwritten in memory and never told. no_permission: only the process's
// own user and CAP_SYS_PTRACE may look. unavailable: it sleeps in the kernel (state D), where its
// memory may be locked and reading could hang with it. Values longer than 256 bytes are left out.
Result<std::map<std::string, std::string>> read_environment(
    const Env& env, const ProcessId& id, std::span<const std::string_view> names);

// The latest moment at which a process with these ticks can have begun: they are rounded down.
Result<MonotonicTime> latest_start(const Env& env, std::uint64_t start_ticks);

// Are the pids in this Env's /proc those of the machine, as the driver tells them? False inside a
// container that has a pid namespace of its own.
bool shows_host_pids(const Env& env);

}  // namespace stoker::os
