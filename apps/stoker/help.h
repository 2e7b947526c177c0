// Composition: how --help looks.
#pragma once

#include <string>
#include <string_view>

#include "cli_fwd.h"

namespace stoker::app {

// For `app` and every verb that is added to it afterwards: help fits a terminal of 80 columns.
void use_help_style(CLI::App& app);

// The text of a footer, each line in at most 80 columns. A line goes on below where its text began: behind
// its last gap of two blanks or more, or its indentation. An unindented line that is too long is continued
// by the next one.
std::string fitted(std::string_view text);

}  // namespace stoker::app
