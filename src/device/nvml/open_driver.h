// Device stage: a Driver on an already resolved library, for tests with a table of their own.
#pragma once

#include "device/nvml/driver.h"
#include "device/nvml/library.h"

namespace stoker::nvml {

tl::expected<std::unique_ptr<Driver>, DriverFailure> open_driver(Library library,
                                                                 const DriverOptions& options);

}  // namespace stoker::nvml
