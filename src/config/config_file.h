// Edge: the config file. Internal to src/config.
#pragma once

#include <string>
#include <vector>

#include "catalog/yaml/yaml.h"
#include "config/option.h"
#include "config/settings.h"
#include "model/finding.h"

namespace stoker::config {

// Takes over what the parsed file says into `settings`; what is wrong with it, or with reading it, goes
// to `findings`. `path` is its name.
void take_config(const Result<yaml::Node>& document, const std::string& path, Settings& settings,
                 std::vector<Finding>& findings);

// One thing wrong with what a user wrote.
Finding config_finding(std::string rule, std::string message, std::string fix);

}  // namespace stoker::config
