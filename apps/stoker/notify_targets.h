// Composition: who is told of incidents, by the options.
#pragma once

#include <vector>

#include "config/settings.h"
#include "notify/outbox.h"

namespace stoker::app {

// Empty: nobody is.
std::vector<notify::Target> notify_targets(const config::Settings& settings);
Severity least_notified(const config::Settings& settings);
// URLs that are none, and a token file that can't be read.
void check_notify(const config::Settings& settings, std::vector<Finding>& findings);

}  // namespace stoker::app
