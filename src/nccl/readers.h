// NCCL analyzer: readers of the several families of lines. Each adds to Facts what a line says, and keeps what it needs
// to understand the next ones. Only log_reader.cpp and tests see them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "nccl/facts.h"
#include "nccl/line.h"

namespace stoker::nccl {

// Adds a hit, or counts one that the same process or rank had before.
void add_hit(Facts& facts, Hit hit);

// Lines of NCCL itself: who, which communicator, how far, and what it warned of.
class NcclReader {
 public:
  explicit NcclReader(Facts& facts) : facts_(facts) {}
  void read(const Line& line, const Place& place);
  // "NCCL version 2.21.5+cuda12.4", which older versions print without a front.
  void read_version(std::string_view text);
  // The process that spoke last; none has yet.
  [[nodiscard]] std::optional<std::uint32_t> last() const { return last_; }

 private:
  std::uint32_t process_of(const Line& line, const Place& place);
  void read_info(const Line& line, Process& process, const Place& place);
  void read_warning(const Line& line, std::optional<std::uint32_t> process, const Place& place);
  bool read_comm(std::string_view text, Process& process, const Place& place);
  bool read_call(std::string_view text, Process& process);

  Facts& facts_;
  std::optional<std::uint32_t> last_;
};

// What torch's watchdog, monitor and desync report say.
class TorchReader {
 public:
  explicit TorchReader(Facts& facts) : facts_(facts) {}
  bool read(const Line& line, const Place& place);

 private:
  Facts& facts_;
};

// How torchrun, Slurm and mpirun say that a process ended.
class LauncherReader {
 public:
  explicit LauncherReader(Facts& facts) : facts_(facts) {}
  bool read(const Line& line, const Place& place);

 private:
  bool read_table(std::string_view text, const Place& place);
  bool read_mpi(std::string_view text, Exit& exit);
  void read_srun_list(std::string_view text, const Exit& base);
  // Among the facts, as long as there is room.
  void keep(Exit exit);

  Facts& facts_;
  bool table_ = false;  // within torchrun's table of failures
  bool first_ = false;  // within its part "Root Cause"
  Exit row_;
  Exit mpi_;  // the process of which the next line says the code
};

// Python's tracebacks, those of several ranks mixed.
class TracebackReader {
 public:
  explicit TracebackReader(Facts& facts) : facts_(facts) {}
  bool read(const Line& line, const Place& place);
  [[nodiscard]] bool open() const { return !open_.empty() || !last_error_.empty() || nested_; }

 private:
  void ended(const Line& line, const Place& place);
  bool read_nested(const Line& line, const Place& place);

  Facts& facts_;
  bool nested_ = false;                           // within a traceback in torchrun's table
  std::map<std::string, int, std::less<>> open_;  // by what stands in front: lines since it began
  std::map<std::string, int, std::less<>> last_error_;  // "Last error:" was the line before
};

// The text that an NCCL process answers on its RAS port, wherever in a file it stands.
class RasTextReader {
 public:
  explicit RasTextReader(Facts& facts) : facts_(facts) {}
  bool read(std::string_view text, const Place& place);
  void finish();
  [[nodiscard]] bool open() const { return open_; }

 private:
  GroupStates& group();
  void read_heading(std::string_view text);
  void read_rank(std::string_view text, const Place& place);

  Facts& facts_;
  RasAnswer answer_;
  bool open_ = false;
  bool trouble_ = false;  // under "Errors" or "Warnings"
  bool gone_ = false;     // under INCOMPLETE or DEAD
  std::optional<std::int64_t>
      shared_;  // "2 ranks have launched up to operation 641", of which the ranks follow
};

}  // namespace stoker::nccl
