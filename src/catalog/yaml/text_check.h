// Catalogue: what libfyaml must not get to see.
#pragma once

#include <string_view>

#include "catalog/yaml/yaml.h"

namespace stoker::yaml {

// A problem at the first place that is no text at all: bytes that are no UTF-8, or a control character.
void refuse_what_is_no_text(std::string_view text, Problems& problems);

}  // namespace stoker::yaml
