// NCCL analyzer: what may be the cause. verdict.cpp chooses among all that there are.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "nccl/job.h"
#include "nccl/states.h"

namespace stoker::nccl {

// Which kind of cause goes before which, where a job shows several (docs/specs/nccl.md, "Who is blamed").
enum class Tier : std::uint8_t {
  hardware,  // the kernel names the GPU, or killed a process for its memory
  named,     // a line names the cause, and leaves no other
  died,      // a launcher saw that rank killed, first of all
  told,      // a line names the likely cause
  program,   // a rank's own exception
  waiting,   // who waits for whom
  symptom,   // a line that has this cause most often
  left,      // a launcher saw that rank leave with an error, and nothing says why
  start,     // it never finished starting
};

struct Candidate {
  Tier tier = Tier::symptom;
  Class verdict = Class::unknown;
  Confidence confidence = Confidence::possible;
  std::set<int> ranks;
  std::set<std::string> hosts;
  std::string rule;  // id of a sign, or what else it rests on
  std::string why;
  std::string next_step;
  std::string source;
  std::vector<Place> evidence;
  std::uint64_t count = 0;    // lines
  bool by_exception = false;  // of a Python exception's last line
};

// Of lines that show signs, of the kernel's events, of exits and exceptions.
std::vector<Candidate> causes_of(const Job& job, const Facts& facts);
// Of who waits for whom, and of a start that never ended.
std::vector<Candidate> waits_of(const Job& job, const Facts& facts);

// Notes that are no causes: what was forced by environment, versions and settings that differ between ranks.
std::vector<Finding> notes_of(const Job& job, const Facts& facts);

// "logs/a.txt:264: text"
std::string evidence_text(const Place& place, const Facts& facts);

}  // namespace stoker::nccl
