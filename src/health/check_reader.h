// Health stage: reads files of checks. Every mistake is told with file, line, column and what would be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "health/check.h"

namespace stoker::health {

// `base` with what `text` says: a row with the id of one that is there changes the keys that it names, any other
// row is a new check and has to be whole. invalid_input tells all that is wrong, a line each; nothing is taken
// from a file with a mistake.
Result<std::vector<Check>> read_checks(std::string_view text, const std::string& file,
                                       std::vector<Check> base = {});

}  // namespace stoker::health
