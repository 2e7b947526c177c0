#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nccl/readers.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// Our own choice: more ranks than a job has.
constexpr int highest_task = 100'000;
// Our own choice: two such jobs, in some 30 MB.
constexpr std::size_t most_exits = 200'000;

// What srun says behind "task 3: ": a signal's name, or the exit code.
std::optional<int> srun_code(std::string_view text) {
  if (const auto code = number_behind<int>(text, "Exited with exit code ")) return code;
  struct Named {
    std::string_view word;
    int signal;
  };
  for (const auto& each : {Named{"Killed", 9}, Named{"Segmentation fault", 11}, Named{"Aborted", 6},
                           Named{"Bus error", 7}, Named{"Illegal instruction", 4},
                           Named{"Terminated", 15}, Named{"Out Of Memory", 9}}) {
    if (text.starts_with(each.word)) return -each.signal;
  }
  return std::nullopt;
}

// One of srun's "2-7,9"; nullopt: it is no such range.
std::optional<std::pair<int, int>> srun_range(std::string_view range) {
  const auto dash = range.find('-');
  const auto from = whole_number<int>(range.substr(0, dash));
  const auto to = dash == npos ? from : whole_number<int>(range.substr(dash + 1));
  if (!from || !to || *from < 0 || *to < *from || *to > highest_task) return std::nullopt;
  return std::pair(*from, *to);
}

}  // namespace

void LauncherReader::keep(Exit exit) {
  if (facts_.exits.size() < most_exits)
    facts_.exits.push_back(std::move(exit));
  else
    facts_.exits_left_out = true;
}

// srun's "tasks 2-7,9: Exited with exit code 1": each of them once, of one line. That many were killed says only that the
// step was.
void LauncherReader::read_srun_list(std::string_view text, const Exit& base) {
  auto list = word_behind(text, ": tasks ", ":");
  const auto code = number_behind<int>(text, "Exited with exit code ");
  if (!code || *code <= 0) return;
  if (facts_.exits.size() >= most_exits) {
    facts_.exits_left_out = true;
    return;
  }
  std::vector<bool> tasks;
  while (!list.empty()) {
    const auto word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    const auto range = srun_range(word);
    if (!range) break;
    const auto [from, to] = *range;
    if (std::ssize(tasks) <= to) tasks.resize(static_cast<std::size_t>(to) + 1);
    std::fill(tasks.begin() + from, tasks.begin() + to + 1, true);
  }
  Exit each = base;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (!tasks[task]) continue;
    Exit exit = each;
    each.place.text.clear();  // the first has it for all of the line
    exit.rank = static_cast<int>(task);
    exit.code = *code;
    keep(std::move(exit));
  }
}

// torch.distributed.elastic's table: "rank : 3 (local_rank: 3)", "exitcode : -9 (pid: 1739)".
bool LauncherReader::read_table(std::string_view text, const Place& place) {
  if (text.starts_with("Root Cause (first observed failure)")) {
    table_ = first_ = true;
    row_ = {};
    return true;
  }
  if (text.starts_with("Failures:")) {
    table_ = true;
    first_ = false;
    row_ = {};
    return true;
  }
  if (!table_) return false;
  if (text.starts_with("====")) table_ = false;
  const auto colon = text.find(" : ");
  const auto value = colon == npos ? std::string_view() : trimmed(text.substr(colon + 3));
  if (text.starts_with("host ")) {
    row_.host = value == "localhost" ? std::string() : std::string(value);
  } else if (text.starts_with("rank ")) {
    row_.rank = number_behind<int>(text, ": ");
  } else if (text.starts_with("exitcode ")) {
    row_.code = number_behind<int>(text, ": ").value_or(0);
    row_.pid = number_behind<std::uint32_t>(text, "(pid: ").value_or(0);
    row_.first = first_;
    row_.place = place;
    if (row_.code != 0) keep(row_);
    row_ = {};
  }
  return true;
}

// Open MPI: "Process name: [[4711,1],3]", then "Exit code: 1"; MPICH: "PID 123 RUNNING AT node-a", then "EXIT CODE: 9".
bool LauncherReader::read_mpi(std::string_view text, Exit& exit) {
  if (text.starts_with("Process name: [[")) {
    mpi_ = {.rank = number_behind<int>(text, "],")};
    return true;
  }
  if (const auto at = text.find(" RUNNING AT "); at != npos && contains(text, "PID ")) {
    mpi_ = {.host = std::string(word_behind(text, " RUNNING AT ")),
            .pid = number_behind<std::uint32_t>(text, "PID ").value_or(0)};
    return true;
  }
  const auto place = exit.place;
  const auto code = word_behind(text, "EXIT CODE: ").empty() ? word_behind(text, "Exit code:", "")
                                                             : word_behind(text, "EXIT CODE: ");
  if (code.empty() || (!mpi_.rank && mpi_.pid == 0)) return false;
  exit = mpi_;
  exit.place = place;
  exit.first = true;
  exit.code = whole_number<int>(trimmed(code)).value_or(0);
  // MPICH shows the signal's number as the code.
  constexpr int highest_signal = 15;
  if (mpi_.pid != 0 && exit.code > 1 && exit.code <= highest_signal) exit.code = -exit.code;
  mpi_ = {};
  return true;
}

bool LauncherReader::read(const Line& line, const Place& place) {
  const auto text = trimmed(line.text);
  if (line.cut && !text.ends_with(')') && !text.ends_with('.')) return false;
  if (read_table(text, place)) return true;
  Exit exit{.place = place};
  if (const auto code = number_behind<int>(text, "failed (exitcode: ")) {
    exit.code = *code;
    exit.pid = number_behind<std::uint32_t>(text, "(pid: ").value_or(0);
    if (exit.pid == 0) return false;  // cut
  } else if (contains(text, "noticed that process rank ") && contains(text, " exited on signal ")) {
    exit.rank = number_behind<int>(text, "process rank ");
    exit.pid = number_behind<std::uint32_t>(text, " with PID ").value_or(0);
    exit.host = word_behind(text, " on node ", " .,");
    exit.code = -number_behind<int>(text, " exited on signal ").value_or(0);
    exit.first = true;
  } else if (text.starts_with("MPI_ABORT was invoked on rank ")) {  // its code is in the next line
    exit.rank = number_behind<int>(text, "on rank ");
    exit.code = 1;
    exit.first = true;
    if (!exit.rank) return true;
  } else if (read_mpi(text, exit)) {
    if (exit.code == 0) return true;
  } else if (contains(text, "exits with return code = ")) {  // DeepSpeed
    exit.code = number_behind<int>(text, "exits with return code = ").value_or(0);
  } else if (contains(text, "died with <Signals.SIG")) {  // subprocess.CalledProcessError
    exit.code =
        -number_behind<int>(text.substr(text.find("died with <Signals.SIG")), ": ").value_or(0);
  } else if (text.starts_with("srun: error: ") && contains(text, ": task")) {
    const auto task = number_behind<int>(text, ": task ");
    exit.host = word_behind(text, "srun: error: ", ":");
    if (!task) read_srun_list(text, exit);
    const auto what = task ? text.substr(text.find(": task ") + 7) : std::string_view();
    const auto ended =
        srun_code(task && contains(what, ": ") ? what.substr(what.find(": ") + 2) : what);
    if (!task || !ended) return true;
    exit.rank = task;
    exit.code = *ended;
  } else {
    return false;
  }
  if (exit.code != 0) keep(std::move(exit));
  return true;
}

}  // namespace stoker::nccl
