// Edge: the config file. Internal to src/config.
#pragma once

#include <string>
#include <vector>

#include "config/option.h"
#include "config/settings.h"
#include "model/finding.h"

namespace stoker::config {

// Takes over what the file says into `settings`; what is wrong goes to `findings`.
void read_config_file(const std::string& path, Settings& settings, std::vector<Finding>& findings);

// One thing wrong with what a user wrote.
Finding config_finding(std::string rule, std::string message, std::string fix);

}  // namespace stoker::config
