// Fabric analyzer: GUIDs as they are written.
#pragma once

#include <optional>
#include <string_view>

#include "fabric/sweep.h"

namespace stoker::fabric {

// 1 to 16 hexadecimal digits, with or without "0x"; not 0, which is nobody's.
std::optional<Guid> read_guid(std::string_view text);

}  // namespace stoker::fabric
