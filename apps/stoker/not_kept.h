// Composition: a file in which the agent keeps something, and that could not be read or written, as a finding.
#pragma once

#include <string>

#include "base/error.h"
#include "model/finding.h"

namespace stoker::app {

Finding not_kept(const std::string& file, std::string rule, std::string message,
                 const Error& error);

}  // namespace stoker::app
