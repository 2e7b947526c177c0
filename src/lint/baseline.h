// Analyzer stage: what was already so when somebody began to lint. Findings of a baseline are not told again; a new one
// of the same rule in the same file is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"

namespace stoker::lint {

// One line a finding: rule, file and message, with tabs between, sorted. Line numbers are left out, so that a baseline
// outlives changes above.
std::string write_baseline(std::span<const Finding> findings);

// Takes those out of `findings` that `baseline` has, each of its lines once. How many they were; invalid_input where a
// line is none that write_baseline() writes, with its number.
Result<std::size_t> take_out_known(std::string_view baseline, std::vector<Finding>& findings);

}  // namespace stoker::lint
