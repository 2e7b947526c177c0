// Composition: which files `stoker lint` looks at, and what it found in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lint/rule.h"

namespace stoker::app {

struct LintLook {
  std::vector<Finding> findings;
  std::vector<std::string>
      files;  // that were looked at; of a cluster the objects, by entity_word()
  std::vector<std::string> unread;  // why others were not
  std::string_view what = "file";   // that `files` are
  bool with_patch = false;          // is `patch` wanted?
  std::string patch;                // what --fix prints: a unified diff of all files
  std::size_t ignored = 0;          // findings that a comment or annotation wants ignored
};

// The rules about one kind of file; `name` is that of its page under docs/rules.
struct LintRules {
  std::string_view name;
  std::string_view about;
  lint::RuleTable table;
};
std::vector<LintRules> lint_rule_groups();
// All rules of all groups.
std::vector<lint::Rule> all_lint_rules();

// Looks at the files at `paths`: a file whatever it is called, of a folder and what lies below it those that are YAML or
// JSON by their name; "-" is standard input.
LintLook look_at(const std::vector<std::string>& paths, bool with_patch);

// A whole file of at most 256 MiB; "-" is standard input.
Result<std::string> read_whole(const std::string& path);

}  // namespace stoker::app
