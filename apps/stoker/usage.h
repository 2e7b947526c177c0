// Composition: what is said about a wrong command line.
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli_fwd.h"

namespace stoker::app {

// Prints what `problem` says (help and version too), with what would be right, and returns the exit
// code: 0 for help, 2 for wrong usage.
int explain_usage(const CLI::App& app, const CLI::ParseError& problem);

// Refuses an empty argument, as of a variable that is not set: it would pass for none. Says which, and
// returns the exit code; nullopt: there is none.
std::optional<int> refuse_empty(const std::vector<std::string>& arguments);

// Prints what the system refused (a thread, a folder) and returns the exit code. Says nothing where it
// was standard output, as fmt reports it: all_was_printed() does.
int explain_refusal(const std::system_error& problem);

}  // namespace stoker::app
