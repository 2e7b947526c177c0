// Fabric analyzer: signs of what is wrong with cables, from several sides; judge.h makes one verdict a cable of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/verdict.h"

namespace stoker::fabric {

struct Sign {
  Verdict verdict = Verdict::counted;
  Severity severity = Severity::warning;
  std::string message;           // a sentence without the cable's name: "3 symbol errors in 5 min"
  std::string cause;             // empty: the row's
  std::optional<Action> action;  // none: the row's
  std::vector<std::string> evidence;
  std::vector<Guid> blamed;  // nodes whose fault it may be for all of their cables at once
  std::uint64_t times =
      0;  // of flapping: how often; restarts of a node are alike at all its cables
};

using Signs = std::map<Cable, std::vector<Sign>>;

// What the judgement compares with what: `now` always; the others where they were given.
struct Look {
  const Sweep& now;
  const Sweep* previous = nullptr;
  const Sweep* expected = nullptr;

  [[nodiscard]] const Sweep* reference() const { return expected != nullptr ? expected : previous; }
  // "the saved fabric", or "the sweep of 2026-11-29T12:00:00.000Z".
  [[nodiscard]] std::string reference_text() const;
  // Names are those of now, of the reference for what is not there any more.
  [[nodiscard]] std::string name_of(Guid guid) const;
  [[nodiscard]] std::string end_text(const PortName& end) const;  // "S-leaf1 port 8"
  [[nodiscard]] std::string cable_text(
      const Cable& cable) const;  // "S-leaf1 port 8 <-> H-gpu04 port 1"
  [[nodiscard]] std::string guids_text(const Cable& cable) const;
};

// Cables that are gone, elsewhere or new (layout.cpp); nodes of another GUID and the same name come with it.
struct Layout {
  Signs signs;
  std::map<Guid, Guid> replaced;  // GUID in the reference -> GUID now
};
Layout compare_layout(const Look& look);

// Width and speed (rates.cpp), states (states.cpp) and counters (counting.cpp) of the cables that are there.
void add_rate_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs);
void add_state_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs);
void add_counter_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs);

}  // namespace stoker::fabric
