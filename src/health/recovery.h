// Health stage: what the driver itself asks for, NVML field 230. It outranks any table of ours.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/action.h"

namespace stoker::health {

struct Recovery {
  Action action = Action::contact_vendor;
  std::string_view name;  // "reset the GPU"; empty for a value that this driver branch can't mean
  std::string_view fix;
  [[nodiscard]] bool known() const { return !name.empty(); }
};

// The meaning of `value` (not 0) for a driver like "580.159.04". A value that this branch is not known
// to use is contact_vendor, never nothing; without a version every value of the table counts.
Recovery recovery_of(std::int64_t value, std::string_view driver_version);

}  // namespace stoker::health
