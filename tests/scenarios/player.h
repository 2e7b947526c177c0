// Test support: plays a scenario on a node without threads (incident/node_run.h) and tells what is not as it says.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "scenario.h"

namespace stoker::scenario {

// A line each, "FILE:LINE: what was expected, and what there is"; empty: all is as it says. Whatever came and is
// neither expected by a line nor in `also` is a mistake too. Errors: the scenario has no such product or driver.
Result<std::vector<std::string>> play(const Scenario& scenario);

}  // namespace stoker::scenario
