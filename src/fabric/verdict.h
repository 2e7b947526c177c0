// Fabric analyzer: what was found, one verdict a cable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/sweep.h"
#include "model/finding.h"

namespace stoker::fabric {

// Gravest first (verdicts.def).
enum class Verdict : std::uint8_t {
#define STOKER_FABRIC_VERDICT(name, ...) name,
#include "fabric/verdicts.def"
#undef STOKER_FABRIC_VERDICT
};

struct VerdictRow {
  Verdict verdict;
  std::string_view rule;
  std::string_view word;  // "wrong port"
  Action action;
  std::string_view cause;  // empty: the one who judges says it
  std::string_view fix;
  std::string_view source;
};
const VerdictRow& row_of(Verdict verdict);

// One thing that is wrong, with every cable that it concerns: one, but where a node is at fault for all of its own. An
// end that nobody has seen is node 0.
struct Told {
  Verdict verdict = Verdict::counted;
  std::vector<Cable> cables;
  std::optional<Guid> node;  // whose fault it is, where it is no cable's
  Finding finding;
};

struct Judged {
  std::vector<Told> told;  // gravest first
  std::map<Guid, std::string>
      names;               // of the nodes that are told of, also where the sweep has not seen them
  std::size_t cables = 0;  // that were seen with both ends
  std::size_t ports = 0;
  std::size_t unlinked = 0;  // ports with no cable, or nobody at its other end
  std::size_t unread = 0;    // ports and links' counters that were asked for and not read
};

}  // namespace stoker::fabric
