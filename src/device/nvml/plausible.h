// Device stage: is a value physically possible? What is not becomes Reason::invalid and is never
// clamped: a driver that answers 4294967295 % knows nothing, and says nothing about 100 %.
#pragma once

#include "catalog/field.h"
#include "model/reading.h"

namespace stoker::nvml {

// `reading` as it is, or without its value and with Reason::invalid.
Reading plausible(const Field& field, const Reading& reading);

}  // namespace stoker::nvml
