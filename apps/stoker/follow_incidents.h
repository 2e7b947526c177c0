// Composition: `stoker incidents --follow`.
#pragma once

#include "command_line.h"

namespace stoker::app {

// Prints each change of an incident as it comes, a line each (Output::table) or as an object in a line, until the
// process is ended or its output is closed. Where the agent ends it is asked again until it is back. Returns the exit
// code.
int follow_incidents(const AgentFlags& flags, Output output);

}  // namespace stoker::app
