// Composition: what is said about a wrong command line.
#pragma once

#include "cli_fwd.h"

namespace stoker::app {

// Prints what `problem` says (help and version too), with what would be right, and returns the exit
// code: 0 for help, 2 for wrong usage.
int explain_usage(const CLI::App& app, const CLI::ParseError& problem);

}  // namespace stoker::app
