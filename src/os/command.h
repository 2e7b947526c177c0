// Machine stage: another program, run for what it prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::os {

struct Command {
  std::string program;  // a path, or a name that PATH has
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", on top of ours
  bool quiet = false;  // what it says on standard error is thrown away, else it is said on ours
};

// What it prints on its standard output. It reads /dev/null, inherits no file descriptor of ours and has a process group
// of its own, which is killed when it has not ended after `timeout` or has printed more than `most` bytes. Waits that
// long. Errors: timeout; corrupt, for too much; unavailable, for another exit code than 0; that of posix_spawnp(3).
Result<std::string> output_of(const Command& command, std::chrono::milliseconds timeout,
                              std::size_t most);

}  // namespace stoker::os
