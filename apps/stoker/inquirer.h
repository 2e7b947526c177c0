// Composition: the child of the agent that finds out why a job looks hung: asks NCCL's RAS, reads what the job's processes
// write, and says what src/nccl makes of it. A process of its own: it takes the rights of the job's user before it opens a
// file of theirs, whatever it reads may be large, hostile, or on a file system that never answers, and the agent can end it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker::app {

struct InquirerOptions {
  std::string root = "/";         // as option root
  std::string device_root = "/";  // of a simulated node; else as root
  std::vector<std::string> logs;  // patterns of the operator's, of files on the host
  std::vector<std::uint32_t> pids;
  double ras_timeout_seconds =
      20;  // of one answer: RAS itself waits 10 s for ranks (docs/specs/nccl.md)
  double ras_wait_seconds = 5;  // between two
};

// Packets of inquirer_words.h into the socket `fd`, and the end of it. 0; 2: it could not tell.
int run_inquirer(const InquirerOptions& options, int fd);

}  // namespace stoker::app
