// Incident stage: the table of causes as types. Rows stand in causes.def.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/level.h"
#include "model/finding.h"

namespace stoker::incident {

enum class Family : std::uint8_t {
  bus,
  unopened,
  firmware,
  memory,
  board,
  link,
  pcie,
  driver,
  heat,
  power,
  network,
  host,
  service,
  application,
  pace,
  other,  // follows nothing, and nothing follows it
};

struct Cause {
  std::string word;
  Family family = Family::other;
  int rank = 0;
  Severity severity = Severity::warning;
  std::chrono::seconds quiet{600};
  bool stands = false;
  bool told_in_maintenance = false;
  std::string_view title;
};

// `number` as the newest driver means it; without a level in the catalogue: xid-not-documented.
const Cause& cause_of_xid(std::uint32_t number, std::optional<FaultLevel> level);
const Cause& cause_of_sxid();
// nullptr: there is no such sign.
const Cause* cause_of_sign(std::string_view sign);
// Of what was said at the end of an earlier boot.
const Cause& cause_before_reboot();
// A cause of its own, named like the rule, where the table has none.
Cause cause_of_rule(std::string_view rule, Severity severity);
// By its word; one that the table does not have is a rule's.
Cause cause_named(std::string_view word, Severity severity);

// Does what is of `what` follow from an incident of `head`, on the same GPU?
bool follows(Family what, Family head);

}  // namespace stoker::incident
