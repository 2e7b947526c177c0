// Incident stage: one incident told from front to back: what belongs to its cause, what follows from that, what people
// and time did to it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catalog/driver_version.h"
#include "incident/cause.h"
#include "model/incident.h"

namespace stoker::incident {

// What a line has to do with the incident's cause.
enum class Part : std::uint8_t {
  cause,    // says what it is named after
  earlier,  // another cause, which that one took over: it stands higher
  follows,  // comes of it
  beside,   // the same kind of trouble, or of another thing that this one meets
  check,    // no line of the kernel log: a check read it, or a service said it
  story     // happened to the incident itself
};
// Stable lower-case word.
const char* to_string(Part part);

struct AccountLine {
  WallTime at;
  Part part = Part::story;
  std::string who;  // of story; else empty
  std::string text;
  std::string
      why;  // "Xid 45 is of application, which follows from bus"; of story, check and cause empty
};

struct Account {
  Cause cause;
  std::vector<AccountLine> lines;   // in the order of their times
  std::vector<std::uint32_t> xids;  // of the lines; those of the cause first
  std::vector<std::uint32_t> sxids;
};

// `driver`: by whose branch numbers are read; none: not known.
Account account_of(const Incident& incident, const std::optional<DriverVersion>& driver);

}  // namespace stoker::incident
