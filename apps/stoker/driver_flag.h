// Composition: --driver, which says what a reused Xid number means.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "catalog/driver_version.h"

namespace stoker::app {

// Nothing for an empty text; invalid_input for one that is no version.
Result<std::optional<DriverVersion>> driver_of(const std::string& text);

}  // namespace stoker::app
