// Machine stage: one line of /proc/PID/stat (proc(5)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/env.h"

namespace stoker::os {

struct ProcStat {
  char state = '?';
  std::uint64_t cpu_ticks = 0;    // user and system, in USER_HZ, with children that were waited for
  std::uint64_t start_ticks = 0;  // since boot, in USER_HZ
};

// "/proc/4711/stat".
std::string proc_file(std::uint32_t pid, std::string_view name);

// not_found: there is no such process (any more).
Result<ProcStat> read_stat(const Env& env, std::uint32_t pid);

}  // namespace stoker::os
