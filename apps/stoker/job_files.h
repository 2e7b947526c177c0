// Composition: the files that a job's processes write, by the names that their environment and the operator give. The
// names are the job's user's words and so is what stands behind them: only a regular file of that user's own is read, to a
// limit, with that user's rights (become()), and never a FIFO, a device, or what is older than the job.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job_process.h"

namespace stoker::app {

struct FileName {
  std::string root;  // the folder that is "/" to it
  std::string
      pattern;        // absolute; * and ? and [...] in a part of it stand for names in that folder
  bool dump = false;  // read as a whole, or not at all
  bool own = false;   // one process alone writes it
};

// NCCL_DEBUG_FILE with %h (none, where the host's name is not known) and %p (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html), what its standard
// output and error go to, and the flight recorder's dump where its rank is known.
std::vector<FileName> file_names_of(const JobProcess& process);

struct FileLimits {
  std::size_t head = std::size_t{1} << 20U;  // where NCCL says who is who
  std::size_t tail = std::size_t{8} << 20U;
  std::size_t dump = std::size_t{64} << 20U;
  std::size_t names = 64;  // that one pattern may stand for
};

// What `name` stands for, in the order of names; at most limits.names of them.
std::vector<std::string> files_named(const FileName& name, const FileLimits& limits);

// A file as it may be given to an analyzer.
struct FilePiece {
  std::string text;
  std::string cut;  // what of it was left out; empty: nothing
};

// no_permission, not_found, io; invalid_input: it is no regular file, not of `uid`, older than `since`, or a dump too
// large: the message says which.
Result<FilePiece> read_job_file(const std::string& root, const std::string& path, bool dump,
                                std::uint32_t uid, WallTime since, const FileLimits& limits);

}  // namespace stoker::app
