// NCCL analyzer: the table of signatures (signs.def): what a line of a job's output means.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stoker::nccl {

// What a verdict can say. docs/specs/nccl.md has what each means.
enum class Class : std::uint8_t {
  healthy,
  missing_rank,
  dead_rank,
  collective_mismatch,
  ib_transport,
  roce_gid,
  wrong_interface,
  firewall_or_connect,
  version_mismatch,
  p2p_or_acs,
  nvls_or_fabricmanager,
  shm,
  oom,
  cuda_error_or_xid,
  topology,
  driver_or_container,
  limits,
  slow_work,
  user_code,
  unknown
};
enum class Confidence : std::uint8_t { unknown, possible, likely, certain };

// Stable words, "missing-rank" and "likely".
const char* to_string(Class value);
const char* to_string(Confidence value);

// What a line that shows the sign is to a verdict.
enum class Role : std::uint8_t {
  cause,    // it names why
  symptom,  // it names why where nothing else does
  effect,   // somebody else failed: never a cause
  note,     // worth to know, and no failure
};
// Which lines can show it.
enum class Where : std::uint8_t {
  warn,       // NCCL's warnings, and what torch repeats of them as "Last error"
  info,       // NCCL's other lines
  exception,  // the last line of a Python traceback, "Type: message"
  line,       // any other line, from its first character on, behind what a launcher puts there
  anywhere,   // any other line: the words are so particular that nobody would use them to talk
};

struct Sign {
  std::string_view id;
  Where where;
  Role role;
  Class verdict;
  Confidence confidence;
  std::string_view pattern;
  std::string_view cause;
  std::string_view next_step;
  std::string_view source;
};

std::span<const Sign> signs();

// The first sign of the table that `text` shows, of those that may stand `where`; nullptr: none. `component` is the
// file of NCCL's source, without a line number, that warned.
const Sign* find_sign(Where where, std::string_view text, std::string_view component = {});

// Does `text` show `pattern`? "A*B": A, and behind it B. "{A|B}": one of these. A leading "@nvls ": the warning comes
// from a file of NCCL's source whose name has this word. `anchored`: from the first character on.
bool shows(std::string_view text, std::string_view pattern, std::string_view component,
           bool anchored);

}  // namespace stoker::nccl
