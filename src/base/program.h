// Ground stage: what lies beside this program.
#pragma once

#include <string>

#include "base/result.h"

namespace stoker {

// The folder of the libraries that come with this program: `lib` beside the folder that the program is in.
Result<std::string> program_libraries();

}  // namespace stoker
