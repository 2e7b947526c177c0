// Ground stage: one cause of trouble with everything that follows from it, from the first line to the day when it is
// over. People are told of incidents, never of the lines of a storm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/action.h"
#include "model/entity.h"
#include "model/finding.h"

namespace stoker {

// open: nobody has looked at it. proving: what it stood on is gone, and time or a test has to show that it stays so.
// suppressed: people are not told of it, until an end.
enum class IncidentState : std::uint8_t {
  open,
  acknowledged,
  mitigating,
  proving,
  resolved,
  suppressed
};

// Stable lower-case word.
const char* to_string(IncidentState state);
std::optional<IncidentState> incident_state_of(std::string_view word);

// A line of the kernel, or what a check read, in the order in which it came to be known.
struct Evidence {
  WallTime at;
  std::string text;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

enum class LookKind : std::uint8_t {
  opening,
  afterwards  // five minutes later
};

// What was so at some time, a line each: "temperature_celsius: 41".
struct Look {
  WallTime at;
  LookKind kind = LookKind::opening;
  bool made = true;   // false: it could not be, and the line says why
  bool late = false;  // well after its time; a line says by how much and why
  std::string boot;   // boot id; empty: not known
  std::vector<std::string> lines;
  friend bool operator==(const Look&, const Look&) = default;
};

// Stable lower-case word.
const char* to_string(LookKind kind);
std::optional<LookKind> look_kind_of(std::string_view word);

// Something that happened to the incident itself.
struct TimelineEntry {
  WallTime at;
  std::string who;   // "stoker", or the user who asked for it
  std::string what;  // "acknowledged", "the cause is gpu-off-bus, not gpu-firmware"
  friend bool operator==(const TimelineEntry&, const TimelineEntry&) = default;
};

// What people are told with a revision, and what may change afterwards without another. Of lists that only grow at
// their end, how much was there.
struct Told {
  std::string message;
  std::string fix;
  std::string source;
  std::uint64_t occurrences = 0;
  std::uint64_t programs = 0;
  std::uint64_t evidence = 0;
  friend bool operator==(const Told&, const Told&) = default;
};

struct Incident {
  std::uint64_t id = 0;        // 1 for the first of this node, and never used again
  std::uint64_t revision = 0;  // rises whenever something that people are told of it has changed
  IncidentState state = IncidentState::open;

  // Its fingerprint: what it is about, why, and, where one card can have several at once, of whom.
  Entity entity;
  std::string cause;    // "gpu-off-bus"
  std::string subject;  // of a program's faults: "python3", "pid 4711"; else empty

  std::string about;   // "GPU 3 (0000:9a:00.0)"
  std::string pci;     // empty: it has none, or it is not known
  std::string serial;  // likewise; by it an incident is known again in another slot
  std::string boot;    // boot id of the last event; empty: none had one

  Severity severity = Severity::warning;
  Action action = Action::observe;
  bool action_of_driver = false;  // the driver itself asks for it
  std::string message;            // what is so, in one sentence
  std::string explanation;        // why, as far as known
  std::string fix;
  std::string source;  // URL or document that action and severity rest on

  WallTime opened_at;
  WallTime updated_at;
  WallTime last_seen;  // when what it stands on last happened
  std::optional<WallTime> proving_since;
  std::optional<WallTime> resolved_at;
  std::optional<WallTime> suppressed_until;
  std::vector<std::string> programs;  // whose work it meets: "job 4711", "pod a/b", else "pid 12"
  std::uint64_t occurrences = 0;      // events and findings that are in it
  std::uint64_t recurrence = 0;       // earlier incidents of the same cause on the same card
  bool stands = false;                // an event said so, and nothing yet says that it is over

  std::vector<Evidence> evidence;       // the first and the last of it
  std::uint64_t evidence_left_out = 0;  // between those
  std::vector<Finding> findings;        // that hold now
  std::vector<TimelineEntry> timeline;

  std::vector<Look> looks;  // at most one of each kind, in their order

  Told told;  // with this revision
};

// What people are told of it, were it told now.
inline Told telling_of(const Incident& incident) {
  return {incident.message,         incident.fix,
          incident.source,          incident.occurrences,
          incident.programs.size(), incident.evidence.size()};
}

inline bool is_over(const Incident& incident) { return incident.state == IncidentState::resolved; }

// What was read of one source of events.
struct ReadMark {
  std::string source;        // "/dev/kmsg"
  std::string boot;          // boot id
  std::uint64_t offset = 0;  // of the last event
  MonotonicTime at;          // its time, since that boot: the wall clock may be set meanwhile
  WallTime since;            // what is told of the time before this was never followed
  friend bool operator==(const ReadMark&, const ReadMark&) = default;
};

// That a target of messages has taken this revision of this incident.
struct SentMark {
  std::string target;
  std::uint64_t incident = 0;
  std::uint64_t revision = 0;
  friend bool operator==(const SentMark&, const SentMark&) = default;
};

}  // namespace stoker
