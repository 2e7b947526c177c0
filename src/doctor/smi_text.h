// Analyzer stage: what `nvidia-smi -q` printed, for what only the driver knows and no file tells.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace stoker::doctor {

// One Card for each section "GPU ADDRESS"; what a section does not tell stays empty. Empty for any other text.
std::vector<Context::Card> read_smi_text(std::string_view text);

}  // namespace stoker::doctor
