// Composition: checks of options that need to know more than the option table does.
#pragma once

#include <vector>

#include "config/settings.h"
#include "model/finding.h"

namespace stoker::app {

// Appends what is wrong: a simulated profile that does not exist, and what the counter file, which is
// read, says wrong (warnings too). Starts nothing.
void check_settings(const config::Settings& settings, std::vector<Finding>& findings);

}  // namespace stoker::app
