// Incident stage: what became of a node in the course of time: which findings came and went, which incidents opened,
// changed and ended. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/finding.h"
#include "model/incident.h"

namespace stoker::incident {

enum class Happening : std::uint8_t {
  finding_began,
  finding_ended,
  incident_opened,
  incident_changed,
  incident_ended,
};
// Stable lower-case word: "began", "ended", "opened", "changed", "resolved".
const char* to_string(Happening what);

struct Entry {
  WallTime at;
  Happening what = Happening::finding_began;
  std::string word;  // the finding's rule, the incident's cause
  Entity entity;
  std::uint64_t incident = 0;  // its id; 0: a finding
  Severity severity = Severity::warning;
  Action action = Action::observe;
  std::string text;  // the message; of an incident that changed: what did
};

class Chronicle {
 public:
  // All findings that fire now.
  void note(const std::vector<Finding>& found, WallTime now);
  // Incidents that changed, as Book::take_changed() gives them; told is what people are told of.
  void note_incidents(const std::vector<Incident>& changed, WallTime now);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  void note(const Incident& incident, WallTime now);

  std::vector<Entry> entries_;
  std::map<std::pair<std::string, Entity>, Finding> firing_;
  std::map<std::uint64_t, Incident> incidents_;  // as they were told last, without evidence
};

}  // namespace stoker::incident
