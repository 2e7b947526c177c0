// Health stage: one check as data: what is compared with what, for how long, and what follows from it. The rows
// are files: health/checks.yaml, which is built in, and an operator's own. docs/specs/checks.md has their format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "health/operand.h"
#include "model/action.h"
#include "model/entity.h"
#include "model/finding.h"
#include "model/reading.h"

namespace stoker::health {

enum class CheckKind : std::uint8_t {
  threshold,  // the value, against a limit
  rate,       // a counter's increase within a window; of nanoseconds: the share of time, in percent
  delta,      // the value's change since it was first seen, or since the reading before
  state,      // the value, one of a set or with bits of a mask
  absence,    // no value, for one of some reasons
  peers,      // the value less the median of the node's other comparable GPUs or links
  frequency,  // Xids of some numbers within a window
  port,  // what a rule about RDMA ports finds (fabric/port_rules.def); none of the other keys says more
};

enum class Relation : std::uint8_t {
  above,
  at_least,
  below,
  at_most,
  one_of,
  none_of,
  any_bit,
  no_bit
};
// Does it compare with a limit (above to at_most), and not with a set of values?
constexpr bool is_ordering(Relation relation) { return relation <= Relation::at_most; }

enum class Since : std::uint8_t { first, last };

// Which other GPUs are a GPU's peers.
enum class Among : std::uint8_t {
  node,  // the node's of the same name
  job,   // of these, those on which the same job runs and no other
};

// What a value is compared with: `of` x times + offset; without `of` a constant, the offset.
struct Limit {
  std::optional<Operand> of;
  double times = 1;
  double offset = 0;
  std::string place;  // "checks.yaml:12:10"
  friend bool operator==(const Limit&, const Limit&) = default;
};

struct Condition {
  std::vector<Operand> operands;  // their sum is the value
  Relation is = Relation::at_least;
  Limit limit;                       // of an ordering
  std::vector<std::int64_t> values;  // of the others: the set, or masks of bits
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct Check {
  std::string id;  // "temperature-slowdown"; never changes once published
  std::string title;
  CheckKind kind = CheckKind::threshold;
  EntityKind scope = EntityKind::gpu;  // gpu, mig, nvlink, node; port of the kind `port` alone
  bool enabled = true;
  Condition condition;
  std::vector<Condition> meanwhile;  // all have to hold too
  std::vector<std::uint32_t> xids;   // of a frequency
  std::vector<Reason> reasons;       // of an absence
  Since since = Since::first;        // of a delta
  Among among = Among::node;         // of peers
  Nanoseconds window{0};             // of a rate, a frequency, of peers' and of ports' counters
  Nanoseconds holds_for{0};
  Nanoseconds clear_for{0};
  unsigned consecutive = 1;  // readings in a row, each a new one
  Nanoseconds boot_grace{0};
  std::vector<std::string> architectures;  // empty: any
  std::vector<std::string> products;       // parts of the GPU's name; empty: any
  Severity severity = Severity::warning;
  Action action = Action::observe;
  std::string message;  // with {name}, {value}, {limit}, {window}
  std::string cause;
  std::string fix;
  std::string source;  // of the rule and of its limit
  std::string why;     // where a number is our own choice
  std::string file;    // where it stands, or was last changed
  friend bool operator==(const Check&, const Check&) = default;
};

// Stable lower-case words, as the files have them.
const char* to_string(CheckKind kind);
const char* to_string(Relation relation);

}  // namespace stoker::health
