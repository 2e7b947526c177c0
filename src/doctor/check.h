// Analyzer stage: what the doctor looks for, and what came of it. A check that could not look says so: that is an
// answer of its own, and never a good one.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/node.h"
#include "model/finding.h"

namespace stoker::doctor {

// Where a check belongs. A container sees its own files, not the node's: most checks of a node mean nothing there.
enum class Where : std::uint8_t { node, container, both };
// Which question of a reboot it takes part in.
enum class Gate : std::uint8_t { none, before, after, both };

// One row of checks.def.
struct CheckRow {
  std::string_view id;  // "dkms-build": lower case and '-', never changed
  Severity severity;    // of what it finds, unless the finding says otherwise
  Where where;
  Gate gate;
  std::string_view title;   // what is looked at, without a full stop
  std::string_view why;     // what happens if it is so
  std::string_view fix;     // what to do
  std::string_view source;  // URL of who says so
};

enum class Outcome : std::uint8_t { fine, found, not_here, not_looked };
// "fine", "found", "not_here", "not_looked".
const char* to_string(Outcome outcome);

struct CheckResult {
  const CheckRow* row = nullptr;
  Outcome outcome = Outcome::not_looked;
  std::string seen;               // fine: what was seen; not_here: why it does not apply
  std::vector<Finding> findings;  // found
  std::vector<std::string>
      not_looked;  // what could not be looked at, and why; also beside findings
};

// What a caller knows beside the files.
struct Context {
  std::string node_name;      // whom findings are about
  bool in_container = false;  // the files are a container's
  bool is_live = false;       // they are a running machine's, not a copy
  Gate gate = Gate::
      none;  // before or after: that is asked, and what is so only now, or then, is judged by it
  // What a running agent or nvidia-smi told about the cards; empty: nobody was asked, and `no_driver_facts` says why.
  struct Card {
    std::string name;         // "GPU 3"
    std::string mig_current;  // "enabled", "disabled", "" unknown or not supported
    std::string mig_pending;
    std::string persistence;  // "enabled", "disabled", "": not told
  };
  std::vector<Card> cards;
  std::string no_driver_facts;
};

// Every row of checks.def, in its order.
std::span<const CheckRow> all_checks();
// nullptr: there is none of that id.
const CheckRow* find_check(std::string_view id);

// Runs the checks that belong where `context` says and that `wanted` takes, in the order of the table.
std::vector<CheckResult> examine(const Node& node, const Context& context,
                                 const std::function<bool(const CheckRow&)>& wanted);

}  // namespace stoker::doctor
