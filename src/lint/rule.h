// Analyzer stage: what a lint rule is, whatever kind of file it is about. Each folder below has its rows in a
// rules.def and hands them out as a RuleTable; a rule's words stand in its row alone, and a finding takes them from there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace stoker::lint {

// Who repairs what a rule finds: a person, or `stoker lint --fix` too.
enum class Fixing { by_hand, patch };

struct Rule {
  std::string_view
      id;  // "shm-unbounded": lower case words and '-', unique over all tables, never changed
  Severity
      severity;  // error: will not work, or leaks a secret; warning: will cost a night; info: good to know
  std::string_view title;   // what is looked for, in one line without a full stop
  std::string_view why;     // what happens if it stays so
  std::string_view fix;     // what to write instead
  std::string_view source;  // URL or file of a project that says so
  Fixing fixing;
};

using RuleTable = std::span<const Rule>;

// The row of `id` in `table`; nullptr: it has none.
const Rule* find_rule(RuleTable table, std::string_view id);
// The same for ids that stand in our sources: one without a row is a mistake of ours, and ends the process.
const Rule& rule_of(RuleTable table, std::string_view id);

// A finding of `rule` at `place`: `message` is what is so here, in one sentence; `evidence` what that rests on. Cause,
// fix and source are the row's; the entity is the file.
Finding finding_of(const Rule& rule, FileLocation place, std::string message,
                   std::vector<std::string> evidence = {});

// The same about something that is in no file.
Finding finding_about(const Rule& rule, Entity entity, std::string message,
                      std::vector<std::string> evidence = {});

// In the order of the file's name, line and column, or of the entity's; of one place in the order of rule ids.
void sort_findings(std::vector<Finding>& findings);

}  // namespace stoker::lint
