// Analyzer stage: .stoker-lint.yaml, which says how much each rule matters here.
//
//   rules:
//     cpu-request-missing: off      not told
//     shm-unbounded: error          told as that
//   fail_on: error                  least severity that makes the exit code 1; warning where it is not said
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"

namespace stoker::lint {

struct LintConfig {
  std::map<std::string, std::optional<Severity>, std::less<>> rules;  // nullopt: off
  std::optional<Severity> fail_on;
};

// invalid_input with file:line:column for every mistake; rules that `known` has not are one.
Result<LintConfig> read_lint_config(std::string_view text, const std::string& file,
                                    const std::vector<std::string>& known);

// Takes out of `findings` what is off, and gives the others their severities.
void apply_severities(const LintConfig& config, std::vector<Finding>& findings);

}  // namespace stoker::lint
